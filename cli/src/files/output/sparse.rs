//! Writes a file with holes in the place of long runs of zeros, so that the output of a sparse file
//! takes no more of the disk than its source.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use tracemend::Source;

/// Bytes of a block of most file systems, which is stored or is a hole as a whole.
const BLOCK: usize = 4 << 10;
/// Zeros that become a hole; shorter ones are written, since each hole is another call.
const HOLE_MIN: u64 = 64 << 10;
const ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Writes all bytes to a new file.
pub(super) fn write_sparse(file: &mut File, bytes: &Source<'_>) -> io::Result<()> {
    // Kept ranges are long, inserts short: small pieces are gathered.
    let mut writer = BufWriter::new(&mut *file);
    let (mut at, mut zeros) = (0, 0);
    while at < bytes.len() {
        // A part at a time, which the progress counts.
        let mut part = bytes.run(at);
        at += len_of(part);
        while let Some(first) = part.chunks(BLOCK).next() {
            let is_hole = is_zero(first);
            let blocks = part.chunks(BLOCK).take_while(|block| is_zero(block) == is_hole);
            let (stretch, rest) = part.split_at(blocks.map(<[u8]>::len).sum());
            if is_hole {
                zeros += len_of(stretch);
            } else {
                write_zeros(&mut writer, std::mem::take(&mut zeros))?;
                writer.write_all(stretch)?;
            }
            part = rest;
        }
    }
    write_zeros(&mut writer, zeros)?;
    writer.flush()?;
    drop(writer);
    // A hole at the end has no byte after it.
    file.set_len(bytes.len())
}

/// Writes zeros, or leaves a hole.
fn write_zeros(writer: &mut BufWriter<&mut File>, count: u64) -> io::Result<()> {
    if count >= HOLE_MIN {
        let count = i64::try_from(count).map_err(io::Error::other)?;
        return writer.seek(SeekFrom::Current(count)).map(|_| ());
    }
    let mut left = usize::try_from(count).map_err(io::Error::other)?;
    while let Some(zeros) = ZEROS.get(..left.min(BLOCK)).filter(|zeros| !zeros.is_empty()) {
        writer.write_all(zeros)?;
        left -= zeros.len();
    }
    Ok(())
}

fn is_zero(block: &[u8]) -> bool {
    block.iter().all(|byte| *byte == 0)
}

fn len_of(bytes: &[u8]) -> u64 {
    Source::new(bytes).len()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn the_bytes_are_the_same_wherever_zeros_begin_and_end() {
        let run = |len: usize, byte: u8| vec![byte; len];
        let hole = 3 * (64 << 10);
        for parts in [
            vec![],
            vec![run(1, 0)],
            vec![run(hole, 0)],
            vec![run(5000, 7), run(hole, 0)],
            vec![run(hole + 5, 0), run(3, 7), run(hole + 1, 0), run(1, 7)],
            vec![run(BLOCK, 7), run(BLOCK, 0), run(BLOCK, 7), run(64 << 10, 0), run(9, 7)],
        ] {
            let pieces = parts.iter().map(Vec::as_slice);
            let source = Source::from_pieces(pieces);
            let mut file = tempfile::tempfile().unwrap();
            write_sparse(&mut file, &source).unwrap();
            file.rewind().unwrap();
            let mut back = Vec::new();
            io::Read::read_to_end(&mut file, &mut back).unwrap();
            assert!(back == parts.concat(), "{:?}", parts.iter().map(Vec::len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn long_zeros_take_no_blocks_of_the_disk() {
        let zeros = vec![0; 8 << 20];
        let source = Source::from_pieces([b"PERFILE2".as_slice(), &zeros, b"end", &zeros]);
        let mut file = tempfile::tempfile().unwrap();
        write_sparse(&mut file, &source).unwrap();
        let metadata = file.metadata().unwrap();
        assert_eq!(metadata.len(), source.len());
        assert!(metadata.blocks() * 512 < 1 << 20, "{} blocks", metadata.blocks());
    }
}
