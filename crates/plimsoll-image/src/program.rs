//! What is in an ELF file, as far as an image has to know.

/// Program headers of this kind name the loader that the kernel is to start instead.
const INTERPRETER: u32 = 3;

/// Whether no program header of the ELF file asks for a loader: only then does it start where there is nothing else.
#[must_use]
pub fn is_static(program: &[u8]) -> bool {
    let word =
        |at: usize| program.get(at..at + 2).map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
    let headers =
        program.get(32..40).map_or(0, |bytes| bytes.iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte)));
    let (size, count) = (word(54), word(56));
    is_elf(program)
        && count > 0
        && (0..count).all(|index| {
            let at = headers.checked_add(index * size);
            let kind = at.and_then(|at| program.get(at..at.checked_add(4)?));
            kind.is_some_and(|kind| kind != INTERPRETER.to_le_bytes())
        })
}

/// Whether it is an ELF file at all.
#[must_use]
pub fn is_elf(program: &[u8]) -> bool {
    program.starts_with(b"\x7fELF")
}

/// What images call the machine of an ELF file; `None` of a machine that plimsoll is not built for.
#[must_use]
pub fn architecture(program: &[u8]) -> Option<&'static str> {
    // Of 64 bits, the lowest first.
    let is_known = is_elf(program) && program.get(4..6) == Some(&[2, 1]);
    match program.get(18..20).filter(|_| is_known) {
        Some([0x3e, 0]) => Some("amd64"),
        Some([0xb7, 0]) => Some("arm64"),
        _ => None,
    }
}

/// An ELF file that differs by what is in it.
#[cfg(test)]
pub(crate) fn with(content: &[u8]) -> Vec<u8> {
    let mut program = vec![0; 64];
    program[..6].copy_from_slice(b"\x7fELF\x02\x01");
    program[18] = 0x3e;
    program.extend_from_slice(content);
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF header with one program header of this kind.
    fn elf(kind: u32) -> Vec<u8> {
        let mut program = vec![0_u8; 64 + 56];
        program[..4].copy_from_slice(b"\x7fELF");
        (program[32], program[54], program[56]) = (64, 56, 1);
        program[64..68].copy_from_slice(&kind.to_le_bytes());
        program
    }

    #[test]
    fn a_program_that_asks_for_a_loader_is_not_static() {
        assert!(is_static(&elf(1)));
        assert!(!is_static(&elf(3)));
        assert!(!is_static(b"#!/bin/sh\n"));
    }

    #[test]
    fn machines_that_are_not_known_have_no_name() {
        let of = |class: u8, machine: u16| {
            let mut program = elf(1);
            (program[4], program[5]) = (class, 1);
            program[18..20].copy_from_slice(&machine.to_le_bytes());
            architecture(&program)
        };
        assert_eq!((of(2, 62), of(2, 183)), (Some("amd64"), Some("arm64")));
        // riscv64, i386, x32 and 32-bit ARM.
        assert_eq!([of(2, 243), of(1, 3), of(1, 62), of(1, 40)], [None; 4]);
        assert_eq!(architecture(b"#!/bin/sh\n"), None);
    }

    #[test]
    fn a_header_that_leads_nowhere_is_not_static() {
        let mut program = elf(1);
        program[32..40].fill(0xff);
        assert!(!is_static(&program));
    }
}
