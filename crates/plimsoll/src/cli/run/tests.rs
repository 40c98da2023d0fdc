//! What the flags promise together.

use clap::CommandFactory;

use crate::cli::Cli;

#[test]
fn every_flag_that_could_change_a_run_is_refused_beside_resume() {
    let mut cli = Cli::command();
    cli.build();
    let run = cli.find_subcommand("run").unwrap();
    let resume = run.get_arguments().find(|argument| argument.get_id() == "resume").unwrap();
    let refused: Vec<_> = run.get_arg_conflicts_with(resume).iter().map(|argument| argument.get_id()).collect();
    let others = run.get_arguments().map(clap::Arg::get_id).filter(|id| !refused.contains(id));
    let allowed: Vec<_> = others.map(clap::Id::as_str).collect();
    let expected = [
        "destroy",
        "resume",
        "keep_files",
        "expect_mount",
        "json",
        "dashboard",
        "verbose",
        "history",
        "no_history",
        "quiet",
        "help",
    ];
    assert_eq!(allowed, expected);
}
