//! How the cost of a check and of a repair grows with the length of a recording.
//!
//! ```text
//! tracemend-benches growth [MB] [WORD]   recordings of 1 MB to MB megabytes (256)
//! ```
//!
//! Each recording is four times as long as the one before it. `check` reads the sound one, and
//! `repair` the same without its last tenth. Prints a table of the least processor time of the
//! rounds and of the private memory, and draws the times in `docs/pictures/growth.svg` unless WORD
//! selects some recordings.

use std::error::Error;
use std::fs;
use std::path::Path;

use plotters::prelude::*;

use crate::MB;
use crate::compare::{LARGE, build_this, cut, root};
use crate::process::{Cost, run};

/// How much longer each recording is than the one before it.
const TIMES: u64 = 4;
/// Rounds of a command, and on a recording of at least [`LONG`] bytes.
const ROUNDS: [usize; 2] = [3, 1];
const LONG: u64 = 1_000 * MB;
/// Megabytes of a recording, and the costs of a check and of a repair.
type Point = (f64, [Cost; 2]);

/// Measures recordings of up to `megabytes`.
pub(crate) fn measure(megabytes: u64, word: &str) -> Result<(), Box<dyn Error>> {
    let program = build_this()?;
    println!("| recording | MB | check s | MB/s | private MB | repair s | MB/s | private MB |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let mut lines: Vec<(&str, Vec<Point>)> = Vec::new();
    for (name, path, write) in LARGE.iter().filter(|(name, ..)| name.contains(word)) {
        let sizes = std::iter::successors(Some(1_u64), |size| Some(size * TIMES));
        let mut points = Vec::new();
        for size in sizes.take_while(|size| *size <= megabytes) {
            let folder = tempfile::tempdir()?;
            let sound = folder.path().join(path);
            fs::create_dir_all(sound.parent().unwrap_or(folder.path()))?;
            write(&sound, size * MB)?;
            let stored = lossy(len(&sound)?) / lossy(MB);
            let rounds = ROUNDS[usize::from(size * MB >= LONG)];
            let measure = |args: &str| measure_command(&program, folder.path(), args, rounds);
            let check = measure(&format!("check {path} --jobs 1"))?;
            let cut_off = folder.path().join("cut");
            cut(&sound, &cut_off)?;
            remove(&sound)?;
            fs::rename(&cut_off, &sound)?;
            let repair = measure(&format!("repair {path} -o out"))?;
            print_row(name, stored, [check, repair]);
            points.push((stored, [check, repair]));
        }
        lines.push((name, points));
    }
    if word.is_empty() { draw(&root().join("docs/pictures/growth.svg"), &lines) } else { Ok(()) }
}

fn measure_command(
    program: &Path,
    folder: &Path,
    args: &str,
    rounds: usize,
) -> Result<Cost, Box<dyn Error>> {
    let args: Vec<String> = args.split(' ').map(str::to_string).collect();
    let mut least = Cost::MAX;
    for _ in 0..rounds {
        let cost = run(program, folder, &args)?;
        least = least.min(cost.map_err(|status| format!("{args:?}: exit status {status}"))?);
    }
    Ok(least)
}

fn print_row(name: &str, megabytes: f64, costs: [Cost; 2]) {
    let cells = costs.map(|cost| {
        let speed = megabytes / cost.seconds;
        format!("{:.3} | {speed:.0} | {:.0}", cost.seconds, cost.private_megabytes)
    });
    println!("| {name} | {megabytes:.1} | {} |", cells.join(" | "));
}

/// Draws the seconds of both commands over the megabytes, in logarithms: a straight line of the
/// slope of the grey one grows with the length.
fn draw(path: &Path, lines: &[(&str, Vec<Point>)]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (960, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let all = || lines.iter().flat_map(|(_, points)| points);
    let longest = all().map(|(megabytes, _)| *megabytes).fold(1.0, f64::max);
    for (index, area) in root.split_evenly((1, 2)).iter().enumerate() {
        let seconds = |point: &Point| point.1[index].seconds;
        let most = all().map(seconds).fold(0.01, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(["check", "repair of a cut end"][index], ("sans-serif", 18))
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(
                (0.2..longest * 1.3).log_scale(),
                (0.001..most * 1.3).log_scale(),
            )?;
        chart
            .configure_mesh()
            .x_desc("MB stored")
            .y_desc("seconds of processor time")
            .light_line_style(WHITE)
            .draw()?;
        chart.draw_series(LineSeries::new([(1.0, 0.001), (most * 1e3, most)], &BLACK.mix(0.2)))?;
        for (number, (name, points)) in lines.iter().enumerate() {
            let colour = Palette99::pick(number).to_rgba();
            let points: Vec<(f64, f64)> = points.iter().map(|one| (one.0, seconds(one))).collect();
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(2))?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], colour));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .draw()?;
    }
    Ok(root.present()?)
}

/// Returns the bytes of a file, or of all files below a folder.
fn len(path: &Path) -> Result<u64, Box<dyn Error>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    fs::read_dir(path)?.map(|entry| len(&entry?.path())).sum()
}

fn remove(path: &Path) -> std::io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[expect(clippy::as_conversions, reason = "there is no other way to a float")]
const fn lossy(number: u64) -> f64 {
    number as f64
}
