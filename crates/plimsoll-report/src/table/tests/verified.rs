//! What tables say of a verification.

use super::*;

#[test]
fn a_verification_that_was_cut_short_does_not_read_as_a_whole_one() {
    let lines = |checked, left, mismatches| {
        let mut shown = failing();
        let verification = shown.cells[0].verification.as_mut().unwrap();
        *verification = VerificationResult {
            blocks_checked: checked,
            blocks_left: left,
            mismatches,
            ..VerificationResult::default()
        };
        let text = record(&shown, 140, PLAIN);
        let about = text.lines().filter(|line| line.contains("blocks")).map(|line| line.trim().replace("mixed: ", ""));
        about.collect::<Vec<_>>()
    };
    assert_eq!(lines(262_144, 0, 0), ["note: 262,144 blocks were read back and all were as written"]);
    let cut = "warning: 39,100 of 262,144 blocks were read back and were as written: the rest was not read back";
    assert_eq!(lines(39_100, 223_044, 0), [cut]);
    assert_eq!(lines(0, 262_144, 0), ["warning: none of 262,144 blocks was read back"]);
    let wrong = "error: 3 of 39,100 blocks were not as written";
    let cut = "warning: 39,100 of 262,144 blocks were read back: the rest was not read back";
    assert_eq!(lines(39_100, 223_044, 3), [wrong, cut]);
}
