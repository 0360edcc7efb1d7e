//! The example `bare_wgpu` from the outside: it compares what it computes with the reference itself.

use support::tests;

use crate::absent::WITHOUT_AN_ADAPTER;
use crate::example::Example;

tests! {
    gpu =>
        a_pool_and_an_unpool_agree_with_the_reference;
    cpu =>
        without_an_adapter_it_fails_in_one_line,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("bare_wgpu");

fn a_pool_and_an_unpool_agree_with_the_reference() {
    let report = EXAMPLE.run_well(&EXAMPLE.scratch("agree"), &[]);
    for begin in
        ["device       ", "executed     max_pool ", "executed     max_unpool ", "agreement    with the reference"]
    {
        assert!(report.lines().any(|line| line.starts_with(begin)), "{begin}: {report}");
    }
}

fn without_an_adapter_it_fails_in_one_line() {
    let folder = EXAMPLE.scratch("none");
    for &(arguments, expected) in WITHOUT_AN_ADAPTER {
        EXAMPLE.fails(&folder, arguments, expected);
    }
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["--backend", "--adapter"]);
}
