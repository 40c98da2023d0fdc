//! Figures that a command tells of itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_record::application::OwnFigure;

fuzz_target!(|text: &str| {
    let Ok(figures) = OwnFigure::parse(text) else { return };
    let written: String =
        figures.iter().map(|figure| format!("{} {} {}\n", figure.name, figure.value, figure.unit)).collect();
    assert!(figures.iter().all(|figure| figure.value.is_finite() && !figure.name.is_empty()));
    assert_eq!(OwnFigure::parse(&written).as_ref(), Ok(&figures), "{written}");
});
