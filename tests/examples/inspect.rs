//! The example `inspect` from the outside: its numbers are compared with ones worked out by hand, its JSON with the
//! library's schedules, and naga has to accept what it prints as WGSL. It needs no GPU.

use serde_json::{Value, json};
use wgpu_pooling::{Choice, DType, Dispatch, IndexType, Limits, MaxUnpool, select, wgsl};

use crate::example::{Example, Files};

static INSPECT: Example = Example::new("inspect");
pub const EXAMPLES: Files = &[(&INSPECT, |_| ())];

#[test]
fn plans_by_hand() {
    INSPECT.reports(&INSPECT.scratch("by_hand"));
}

#[test]
fn as_json_a_schedule_is_whole() {
    let read = |arguments: &str| -> Value {
        let text = INSPECT.says(&INSPECT.scratch("json"), &format!("{arguments} --json"), &[]);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments}: {error}: {text}"))
    };
    // It has scratch memory and a report.
    let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).plan(&[1, 2, 512, 1024], DType::F32, IndexType::I64).unwrap();
    let schedule = select(&unpool, &Limits::WEBGPU, &Choice::default()).unwrap();
    let document = read("max_unpool --shape 1,2,512,1024 --kernel 2,2 --strides 2,2");
    assert_eq!(
        (&document["inputs"][1]["buffer"], &document["index_space"]["flatten"]),
        (&json!("indices"), &json!("tensor"))
    );
    let slices: Vec<[usize; 2]> = schedule.slices().into_iter().map(|slice| [slice.start, slice.end]).collect();
    assert_eq!((&document["slices"], &document["bytes_moved"]), (&json!(slices), &json!(schedule.bytes_moved())));
    let dispatch = |dispatch: &Dispatch| {
        let uniform: String = dispatch.uniform().iter().map(|byte| format!("{byte:02x}")).collect();
        let bindings = dispatch.bindings().map(|(binding, range)| {
            let bytes = range.bytes.or_else(|| schedule.operand_bytes(range.operand));
            json!({
                "binding": binding.number, "read_only": binding.read_only,
                "buffer": range.operand.name(), "offset": range.offset, "bytes": bytes,
            })
        });
        json!({
            "kernel": dispatch.key().name(), "family": schedule.family().name(), "wgsl": wgsl(dispatch.key()),
            "entry": "main", "workgroup_size": dispatch.workgroup_size(), "uniform": uniform,
            "grid": dispatch.grid(), "bindings": bindings.collect::<Vec<_>>(),
        })
    };
    assert_eq!(document["dispatches"], schedule.dispatches().iter().map(dispatch).collect::<Value>());
    for operand in schedule.operands() {
        assert_eq!(document["buffers"][operand.name()]["bytes"], json!(schedule.operand_bytes(operand)));
    }
    // A pool without formulas for its windows has a table of them, two digits for each byte.
    let tables = &read("adaptive_max_pool --shape 1,1,70000 --output-size 3000 --generic")["buffers"]["tables"];
    assert_eq!(tables["contents"].as_str().unwrap().len() as u64, 2 * tables["bytes"].as_u64().unwrap());
    let four = read("max_unpool --shape 1,2,8,8 --kernel 2,2 --max-storage-buffers 4 --writable-inputs");
    assert_eq!(four["limits"]["max_storage_buffers"], 4);
    for dispatch in four["dispatches"].as_array().unwrap() {
        let bindings = dispatch["bindings"].as_array().unwrap();
        assert!(bindings.len() <= 4);
        assert!(bindings.iter().all(|bound| bound["buffer"] != "x" || bound["read_only"] == false), "{bindings:?}");
    }
    // What lies between the steps of a composition is scratch memory, which later steps bind as they bind inputs.
    let hat = read("by_box top_hat --shape 1,1,9,9 --dtype u8 --kernel 3,3");
    let first = |dispatch: usize| &hat["dispatches"][dispatch]["bindings"][0];
    let bound = [0, 1, 2].map(|dispatch| (&first(dispatch)["buffer"], &first(dispatch)["read_only"]));
    assert_eq!(bound.map(|it| json!(it)), ["x", "scratch0", "x"].map(|buffer| json!([buffer, true])));
    // An output without elements needs nothing.
    let nothing = read("max_pool --shape 1,1,4 --kernel 5 --strides 2");
    assert_eq!((&nothing["buffers"], &nothing["dispatches"]), (&json!({}), &json!([])));
}

/// The report stands in comments, so that the whole is WGSL where it has one kernel.
#[test]
fn what_is_printed_is_wgsl() {
    let folder = INSPECT.scratch("wgsl");
    let unpool = "max_unpool --shape 1,3,4,4 --kernel 2,2 --family claim_emit --indices i32 --activation Clip";
    let all = INSPECT.says(&folder, &format!("{unpool} --wgsl"), &["\n// dispatch 1: ", "\n// dispatch 3: "]);
    for dispatch in 1..=3 {
        let text =
            INSPECT.says(&folder, &format!("{unpool} --wgsl={dispatch}"), &["\n// kernel       max_unpool claim_emit"]);
        let module =
            naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| panic!("{}", error.emit_to_string(&text)));
        assert_eq!(module.entry_points.len(), 1, "{text}");
        let kernel = text.split_once("\n// dispatch ").unwrap().1;
        assert!(all.contains(kernel), "{kernel} is not in {all}");
    }
}

/// As on a full disk; a reader that closes the pipe is no error.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let folder = INSPECT.scratch("full");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = INSPECT.command(&folder, &["--json"]).stdout(full).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("inspect: the report cannot be written: ") && stderr.lines().count() == 1, "{stderr}");
    // More than a pipe holds, of which nobody reads anything.
    let text = ["max_pool", "--shape", "1,1,80,80", "--kernel", "3,3", "--json"];
    let mut child = INSPECT.command(&folder, &text).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
