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
        let about = text.lines().filter(|line| line.contains("block")).map(|line| line.trim().replace("mixed: ", ""));
        about.collect::<Vec<_>>()
    };
    assert_eq!(lines(262_144, 0, 0), ["note: 262,144 blocks were read back and all were as written"]);
    let cut = "warning: 39,100 of 262,144 blocks were read back and were as written: the rest was not read back";
    assert_eq!(lines(39_100, 223_044, 0), [cut]);
    assert_eq!(lines(0, 262_144, 0), ["warning: none of 262,144 blocks was read back"]);
    let wrong = "error: 3 of 39,100 checks found a block that was not as written";
    let cut = "warning: 39,100 of 262,144 blocks were read back: the rest was not read back";
    assert_eq!(lines(39_100, 223_044, 3), [wrong, cut]);
}

#[test]
fn a_block_that_was_found_wrong_again_and_again_is_one_and_no_other_is_unnamed() {
    let unnamed = |names: &[usize]| {
        let mut shown = failing();
        let mut verification = VerificationResult { blocks_checked: 900, mismatches: 40, ..Default::default() };
        names.iter().for_each(|name| verification.add_example(format!("offset {name}: a lost write")));
        shown.cells[0].verification = Some(verification);
        let text = record(&shown, 140, PLAIN);
        assert!(text.contains("40 of 900 checks found a block that was not as written"), "{text}");
        let line = text.lines().find_map(|line| line.split_once(" wrong blocks are not named here"));
        line.and_then(|(said, _)| said.rsplit(": ").next()).map(str::to_owned)
    };
    assert_eq!(unnamed(&[7; 40]), None);
    assert_eq!(unnamed(&[1, 2, 3]), None);
    assert_eq!(unnamed(&[1, 2, 3, 4, 5, 6, 7, 1]).as_deref(), Some("2 further"));
    assert_eq!(unnamed(&(0..40).collect::<Vec<_>>()).as_deref(), Some("at least 15 further"));
}
