//! Guests of 512 bytes: boot sectors that print, read the disk, play and record sound, draw random
//! numbers and switch the machine off. Assembled here, instruction by instruction, in 16-bit code.

/// The serial port's data register.
const SERIAL: u16 = 0x3f8;
/// Power management control of the PIIX4, where SeaBIOS puts it.
const POWER: u16 = 0x604;
/// PCI address of bus 0, device 5, where [`Guest::Audio`]'s sound card is put.
const SOUND: u32 = 0x8000_2800;
/// Sectors of the disk.
const SECTORS: usize = 64;

/// The work of the guest besides printing and reading the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guest {
    /// Nothing.
    Plain,
    /// Plays and records through an ES1370.
    Audio,
    /// Draws random numbers and prints them.
    Random,
    /// Waits for a boot server on an e1000 with a replay filter; the disk is not booted.
    Net,
}

impl Guest {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Audio, Self::Random, Self::Net];

    /// Its disk. The guest prints and reads `rounds` times, then switches the machine off; 0 rounds
    /// have no end.
    pub fn disk(self, rounds: u16) -> Vec<u8> {
        let mut code = Code::default();
        // Segments and stack; the boot drive at 0x500, the rounds at 0x502.
        code.raw(&[0xfa, 0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, 0xbc, 0x00, 0x7c, 0xfb]);
        code.raw(&[0x88, 0x16, 0x00, 0x05]);
        code.raw(&[0xc7, 0x06, 0x02, 0x05]).word(rounds);
        if self == Self::Audio {
            code.sound();
        }
        let again = code.here();
        for letter in *b"tick" {
            code.print(letter);
        }
        if self == Self::Random {
            // rdrand eax; out dx, al.
            code.raw(&[0x66, 0x0f, 0xc7, 0xf0, 0xee]);
        }
        // int 13h: one sector, the second of the disk, to 0x8000.
        code.raw(&[0xb8, 0x01, 0x02, 0xbb, 0x00, 0x80, 0xb9, 0x02, 0x00]);
        code.raw(&[0xb6, 0x00, 0x8a, 0x16, 0x00, 0x05, 0xcd, 0x13]);
        // hlt until two timer ticks have come.
        code.raw(&[0xf4, 0xf4]);
        if rounds > 0 {
            // dec word [0x502]; jz over the jump.
            code.raw(&[0xff, 0x0e, 0x02, 0x05, 0x74, 0x03]);
        }
        code.jump(again);
        code.out_word(POWER, 0x2000);
        let halt = code.here();
        code.raw(&[0xf4]).jump(halt);
        code.disk()
    }

    /// Options for its devices.
    pub fn devices(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &["-net", "none"],
            Self::Audio => &[
                "-net",
                "none",
                "-audiodev",
                "none,id=sound",
                "-device",
                "ES1370,audiodev=sound,addr=5",
            ],
            Self::Random => &["-net", "none", "-cpu", "max"],
            Self::Net => &[
                "-netdev",
                "user,id=net",
                "-device",
                "e1000,netdev=net",
                "-object",
                "filter-replay,id=filter,netdev=net",
                "-boot",
                "n",
            ],
        }
    }
}

/// Code under assembly.
#[derive(Debug, Default)]
struct Code {
    bytes: Vec<u8>,
}

impl Code {
    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn word(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    fn here(&self) -> usize {
        self.bytes.len()
    }

    /// jmp near.
    fn jump(&mut self, target: usize) {
        let next = self.here() + 3;
        let distance = i16::try_from(target as isize - next as isize).expect("a near jump");
        self.raw(&[0xe9]).raw(&distance.to_le_bytes());
    }

    /// mov dx, port.
    fn port(&mut self, port: u16) -> &mut Self {
        self.raw(&[0xba]).word(port)
    }

    /// mov al, letter; out dx, al.
    fn print(&mut self, letter: u8) {
        self.port(SERIAL).raw(&[0xb0, letter, 0xee]);
    }

    /// mov ax, value; out dx, ax.
    fn out_word(&mut self, port: u16, value: u16) {
        self.port(port).raw(&[0xb8]).word(value).raw(&[0xef]);
    }

    /// mov eax, value; out dx, eax.
    fn out_long(&mut self, value: u32) {
        self.raw(&[0x66, 0xb8]).raw(&value.to_le_bytes()).raw(&[0x66, 0xef]);
    }

    /// The sound card plays and records without an end.
    fn sound(&mut self) {
        // Its registers: the base address without the flag, to bp.
        self.port(0xcf8).out_long(SOUND + 0x10);
        self.port(0xcfc).raw(&[0x66, 0xed, 0x25, 0xfc, 0xff, 0x89, 0xc5]);
        // It may answer and be master of the bus.
        self.port(0xcf8).out_long(SOUND + 4);
        self.out_word(0xcfc, 7);
        let registers: [(u8, u32); 11] = [
            // Page of DAC2: frame address and size, samples in a period.
            (0x0c, 0x0c),
            (0x38, 0x1_0000),
            (0x3c, 0x0fff),
            (0x28, 0x07ff),
            // Page of ADC.
            (0x0c, 0x0d),
            (0x30, 0x2_0000),
            (0x34, 0x0fff),
            (0x2c, 0x07ff),
            // 16-bit stereo both ways.
            (0x20, 3 << 2 | 3 << 4 | 2 << 19),
            // 44100 Hz; DAC2 and ADC on.
            (0x00, 0x1e << 16),
            (0x00, 0x1e << 16 | 0x30),
        ];
        for (register, value) in registers {
            // lea dx, [bp + register].
            self.raw(&[0x8d, 0x56, register]).out_long(value);
        }
    }

    /// A disk that boots it.
    fn disk(mut self) -> Vec<u8> {
        assert!(self.bytes.len() <= 510, "{} bytes of code fit a boot sector", self.bytes.len());
        self.bytes.resize(510, 0);
        self.raw(&[0x55, 0xaa]);
        self.bytes.resize(512 * SECTORS, 0x5a);
        self.bytes
    }
}
