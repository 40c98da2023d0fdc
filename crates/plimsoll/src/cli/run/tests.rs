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

#[test]
fn help_of_runs_in_pods_offers_no_commands_and_no_targets_of_plans() {
    let mut cli = Cli::command();
    cli.build();
    let pods = cli.find_subcommand_mut("kubernetes").and_then(|all| all.find_subcommand_mut("run")).unwrap();
    let help = pods.render_long_help().to_string();
    for absent in ["--command", "--verify-command", "--settle", "Targets of both"] {
        assert!(!help.contains(absent), "{absent} in:\n{help}");
    }
    assert!(help.contains("those that flags name") && help.contains("--iterations"), "{help}");
}
