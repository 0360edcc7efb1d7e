//! The example `inspect` from the outside: its numbers are compared with ones worked out by hand, and naga has to
//! accept the texts of its kernels. It needs no GPU.

use support::tests;
use wgpu_pooling::{
    AdaptiveMaxPool, Build, Choice, DType, Family, IndexType, Limits, MaxPool, MaxUnpool, Plan, Schedule, select, wgsl,
};

use crate::example::Example;

tests! {
    cpu =>
        without_arguments_a_case_of_its_own,
        plans_by_hand,
        limits_are_those_that_are_given,
        what_is_printed_is_wgsl,
        kernels_are_those_of_the_library,
        as_json_a_schedule_is_whole,
        what_is_wrong_is_said_in_one_line,
        #[cfg(target_os = "linux")]
        a_report_that_cannot_be_written_is_an_error,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("inspect");

/// A run with arguments as one types them.
fn inspect(test: &str, arguments: &str) -> String {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    EXAMPLE.run_well(&EXAMPLE.scratch(test), &arguments)
}

fn as_json_a_schedule_is_whole() {
    let read = |arguments: &str| -> serde_json::Value {
        let text = inspect("json", arguments);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments}: {error}: {text}"))
    };
    // A large unpool has scratch memory and a report; the adaptive pool a table.
    let plans: [(&str, Plan); 3] = [
        (
            "",
            MaxPool::new([3, 3])
                .strides([2, 2])
                .pads([1; 4])
                .plan(&[1, 64, 112, 112], DType::F32, Some(IndexType::I64))
                .unwrap(),
        ),
        (
            "max_unpool --shape 1,2,512,1024 --kernel 2,2 --strides 2,2",
            MaxUnpool::new([2, 2]).strides([2, 2]).plan(&[1, 2, 512, 1024], DType::F32, IndexType::I64).unwrap(),
        ),
        (
            "adaptive_max_pool --shape 1,1,70000 --output-size 3000 --generic",
            AdaptiveMaxPool::new([3_000]).plan(&[1, 1, 70_000], DType::F32, Some(IndexType::I64)).unwrap(),
        ),
    ];
    let mut tables = 0;
    for (arguments, plan) in plans {
        let build = arguments.contains("--generic").then_some(Build::Generic);
        let schedule = select(&plan, &Limits::WEBGPU, &Choice { family: None, build }).unwrap();
        let document = read(&format!("{arguments} --json"));
        assert_eq!(document["bytes_moved"], schedule.bytes_moved());
        let inputs = document["inputs"].as_array().unwrap();
        let named: Vec<&str> = inputs.iter().map(|input| input["buffer"].as_str().unwrap()).collect();
        assert_eq!(named, &["x", "indices"][..plan.inputs().len()]);
        assert!(document["index_space"]["flatten"].is_string(), "{}", document["index_space"]);
        let slices: Vec<[usize; 2]> = schedule.slices().into_iter().map(|slice| [slice.start, slice.end]).collect();
        assert_eq!(document["slices"], serde_json::json!(slices));
        let dispatches = document["dispatches"].as_array().unwrap();
        assert_eq!(dispatches.len(), schedule.dispatches().len(), "{arguments}");
        for (found, dispatch) in dispatches.iter().zip(schedule.dispatches()) {
            assert_eq!(found["kernel"], dispatch.key().name());
            assert_eq!(found["family"], schedule.family().name());
            assert_eq!(found["wgsl"], wgsl(dispatch.key()));
            assert_eq!(found["entry"], "main");
            let uniform: String = dispatch.uniform().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found["uniform"], uniform);
            assert_eq!(found["grid"], serde_json::json!(dispatch.grid()));
            for (bound, (binding, range)) in found["bindings"].as_array().unwrap().iter().zip(dispatch.bindings()) {
                assert_eq!(
                    (&bound["binding"], &bound["read_only"]),
                    (&binding.number.into(), &binding.read_only.into())
                );
                let buffer = &document["buffers"][bound["buffer"].as_str().unwrap()];
                let end = bound["offset"].as_u64().unwrap() + bound["bytes"].as_u64().unwrap();
                assert!(buffer["bytes"].as_u64().unwrap() >= end, "{arguments}: {range:?} in {buffer}");
            }
        }
        if let Some(table) = document["buffers"].get("tables") {
            assert_eq!(table["contents"].as_str().unwrap().len() as u64, 2 * table["bytes"].as_u64().unwrap());
            tables += 1;
        }
    }
    let four = read("max_unpool --shape 1,2,8,8 --kernel 2,2 --max-storage-buffers 4 --writable-inputs --json");
    assert_eq!(four["limits"]["max_storage_buffers"], 4);
    for dispatch in four["dispatches"].as_array().unwrap() {
        let bindings = dispatch["bindings"].as_array().unwrap();
        assert!(bindings.len() <= 4);
        assert!(bindings.iter().all(|bound| bound["buffer"] != "x" || bound["read_only"] == false), "{bindings:?}");
    }
    // An output without elements needs nothing.
    let nothing = read("max_pool --shape 1,1,4 --kernel 5 --strides 2 --json");
    assert_eq!((&nothing["buffers"], &nothing["dispatches"]), (&serde_json::json!({}), &serde_json::json!([])));
    assert!(tables > 0);
}

/// As on a full disk; a reader that closes the pipe is no error.
#[cfg(target_os = "linux")]
fn a_report_that_cannot_be_written_is_an_error() {
    let folder = EXAMPLE.scratch("full");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = EXAMPLE.command(&folder, &["--json"]).stdout(full).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("inspect: the report cannot be written: ") && stderr.lines().count() == 1, "{stderr}");
    // More than a pipe holds, of which nobody reads anything.
    let text = ["max_pool", "--shape", "1,1,80,80", "--kernel", "3,3", "--json"];
    let mut child = EXAMPLE.command(&folder, &text).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

fn without_arguments_a_case_of_its_own() {
    let report = inspect("own_case", "");
    for line in [
        "as in        inspect max_pool --shape 1,64,112,112 --kernel 3,3 --strides 2,2 --pads 1,1,1,1",
        "x            f32 [1, 64, 112, 112] NCHW",
        "y            f32 [1, 64, 56, 56] NCHW",
        "axis 0       112 -> 56, kernel 3, stride 2, dilation 1, pads 1 before and 0 after",
        // 64 * (112 * 112 * 4 + 56 * 56 * (4 + 8))
        "bytes moved  5619712 at least: inputs once, outputs once",
    ] {
        assert!(report.lines().any(|found| found == line), "{line} is not in {report}");
    }
    // The options that every operator takes apply to it too.
    assert!(inspect("own_case", "--family separable").contains("max_pool separable f32"));
}

/// Arguments, and lines that the report has to contain.
const BY_HAND: &[(&str, &[&str])] = &[
    // onnx#5711: the window that would start in the end padding is dropped.
    (
        "max_pool --shape 1,1,9 --kernel 2 --strides 3 --ceil-mode 1 --indices none",
        &["y            f32 [1, 1, 3] NCHW", "indices      none", "axis 0       9 -> 3, kernel 2, stride 3"],
    ),
    ("max_pool --shape 1,1,9 --kernel 2 --strides 3 --ceil-rule ceil_literal", &["y            f32 [1, 1, 4] NCHW"]),
    ("max_pool --shape 1,1,5 --kernel 2 --auto-pad SAME_LOWER", &["dilation 1, pads 1 before and 0 after"]),
    ("max_pool --shape 1,1,5 --kernel 2 --auto-pad SAME_UPPER", &["dilation 1, pads 0 before and 1 after"]),
    ("max_pool --shape 1,1,5 --kernel 2 --dilations 3", &["axis 0       5 -> 2, kernel 2, stride 1, dilation 3"]),
    ("max_pool --shape 1,1,4 --kernel 5 --strides 2", &["y            f32 [1, 1, 0] NCHW", "dispatches   none"]),
    ("max_pool --shape 1,1,4 --kernel 5 --strides 2 --preset onnxruntime", &["y            f32 [1, 1, 1] NCHW"]),
    (
        "max_pool --shape 1,1,10 --kernel 3 --preset pytorch --pads 1,1",
        &[
            "10 -> 4, kernel 3, stride 3, dilation 1, pads 1 before and 1 after",
            "row_major through the plane, where N, C and the extents are [1, 1, 10]",
        ],
    ),
    (
        "max_pool --shape 1,1,10 --kernel 3 --strides 3",
        &["pads 0 before and 0 after, 1 elements behind the last window"],
    ),
    (
        "max_pool --shape 1,1,3 --kernel 2 --pads 2,0 --empty-index unit_base",
        &["some windows lie wholly in padding; their index is unit_base"],
    ),
    (
        "max_pool --shape 2,5,4,3 --kernel 2,2 --preset tensorflow --dtype u8",
        &[
            "y            u8 [2, 4, 3, 3] NHWC",
            "indices      i64 [2, 4, 3, 3] NHWC: row_major through the batch, where N, C and the extents are [2, 3, 5, 4]",
            // 2 * (5 * 4 * 3 + 4 * 3 * 3 * (1 + 8))
            "bytes moved  768 at least",
        ],
    ),
    (
        "max_pool --shape 1,4,5 --kernel 2 --layout nhwc --nan-policy PROPAGATE_LAST --activation Clip",
        &["y            f32 [1, 3, 5] NHWC", "NaN          propagate_last", "activation   Clip { min: -inf"],
    ),
    ("max_pool --shape 1,1,6,5 --kernel 2,2 --storage-order 1", &["column_major through the tensor"]),
    (
        "global_max_pool --shape 2,3,5,7 --dtype f64 --indices i32",
        &["operator     global_max_pool", "y            f64 [2, 3, 1, 1] NCHW", "axis 1       7 -> 1, kernel 7"],
    ),
    (
        "max_unpool --shape 1,2,3 --kernel 2 --strides 2 --family claim_emit --indices i32",
        // An owner for each of the 12 elements of Y.
        &["y            f32 [1, 2, 6] NCHW", "axis 0       3 -> 6", "scratch      64 bytes"],
    ),
    (
        "max_unpool --shape 1,2,3 --kernel 2 --strides 2 --output-shape 1,2,8 --preset pytorch",
        &["y            f32 [1, 2, 8] NCHW", "row_major through the plane, where N, C and the extents are [1, 2, 8]"],
    ),
    (
        "max_unpool --shape 1,2,3 --kernel 2 --strides 2 --output-shape 1,2,8",
        &["row_major through the tensor, where N, C and the extents are [1, 2, 6]"],
    ),
    (
        "adaptive_max_pool --shape 1,1,7,5 --output-size 3,5",
        &["axis 0       7 -> 3, adaptive, from 0..3 to 4..7", "axis 1       5 -> 5, adaptive, from 0..1 to 4..5"],
    ),
];

fn plans_by_hand() {
    for (arguments, lines) in BY_HAND {
        let report = inspect("by_hand", arguments);
        for line in *lines {
            assert!(report.contains(line), "{arguments}: {line} is not in {report}");
        }
    }
}

fn limits_are_those_that_are_given() {
    let arguments = "max_pool --shape 1,1,9 --kernel 2 --max-buffer-bytes 5000 --max-binding-bytes 4000";
    let report = inspect("limits", arguments);
    assert!(report.contains("buffers of 5000 bytes, bindings of 4000 bytes, 65535 workgroups"), "{report}");
}

/// Panics if the text is not valid WGSL with one entry point.
fn check(text: &str) {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|error| panic!("{}", error.emit_to_string(text)));
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    validator.validate(&module).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    assert_eq!(module.entry_points.len(), 1, "{text}");
}

/// The text after each "// dispatch " that a number follows: comments of kernels may have these words too.
fn after_headings(text: &str) -> Vec<&str> {
    const HEADING: &str = "\n// dispatch ";
    let numbered = |at: &usize| text[at + HEADING.len()..].starts_with(|next: char| next.is_ascii_digit());
    let begins: Vec<usize> = text.match_indices(HEADING).map(|(at, _)| at).filter(numbered).collect();
    let ends = begins.iter().skip(1).copied().chain([text.len()]);
    begins.iter().zip(ends).map(|(begin, end)| &text[begin + HEADING.len()..end]).collect()
}

fn what_is_printed_is_wgsl() {
    let mut most_kernels = 0;
    for arguments in [
        "",
        "--specialised",
        "--generic",
        "--family separable",
        "--family thread_tile",
        "max_pool --shape 1,3,9,9 --kernel 3,3 --dtype f16 --activation Sigmoid --indices none",
        "max_pool --shape 1,3,9,9,9 --kernel 3,3,3 --dtype i64 --layout NHWC --specialised",
        "max_pool --shape 1,1,60000 --kernel 50000 --dtype u8 --indices i32",
        "global_max_pool --shape 1,3,8,8 --dtype bf16",
        "max_unpool --shape 1,3,4,4 --kernel 2,2 --strides 2,2 --dtype f64",
        "max_unpool --shape 1,3,4,4 --kernel 2,2 --strides 2,2 --dtype f64 --specialised",
        "max_unpool --shape 1,3,4,4 --kernel 2,2 --family claim_emit --indices i32 --activation Clip",
        "adaptive_max_pool --shape 1,3,8,8 --output-size 3,3 --dtype i16",
    ] {
        let text = inspect("wgsl", &format!("{arguments} --wgsl"));
        let kernels = after_headings(&text);
        most_kernels = most_kernels.max(kernels.len());
        assert!(!kernels.is_empty(), "{arguments}");
        for (kernel, after_heading) in kernels.iter().filter_map(|kernel| Some((kernel, kernel.split_once('\n')?.1))) {
            check(after_heading);
            let first_dispatch: String = kernel.chars().take_while(char::is_ascii_digit).collect();
            let alone = inspect("wgsl", &format!("{arguments} --wgsl={first_dispatch}"));
            assert!(alone.starts_with("// ") && alone.contains(after_heading.trim()), "{arguments}");
            // The report stands in comments, so the whole is WGSL too.
            check(&alone);
        }
    }
    assert!(most_kernels > 3, "unpools have several kernels");
}

/// What is shown is what the library would run.
fn kernels_are_those_of_the_library() {
    let plan = AdaptiveMaxPool::new([3, 4]).plan(&[2, 3, 40, 50], DType::F16, Some(IndexType::I32)).unwrap();
    let choice = Choice { family: Some(Family::Separable), build: Some(Build::Specialised) };
    let schedule: Schedule = select(&plan, &Limits::WEBGPU, &choice).unwrap();
    let text = inspect(
        "library",
        "adaptive_max_pool --shape 2,3,40,50 --output-size 3,4 --dtype f16 --indices i32 --family separable \
         --specialised --wgsl",
    );
    assert!(text.contains(&format!("// kernel       {}\n", schedule.kernel())), "{text}");
    assert!(text.contains(&format!("// scratch      {} bytes\n", schedule.scratch_bytes())), "{text}");
    for dispatch in schedule.dispatches() {
        assert!(text.contains(&wgsl(dispatch.key())), "{} is not in {text}", dispatch.key().name());
        let [x, y, z] = dispatch.grid();
        let row = text.lines().find(|line| line.contains(dispatch.key().name()));
        let row = row.unwrap_or_else(|| panic!("no {} in {text}", dispatch.key().name()));
        assert!(row.contains(&format!("{x} x {y} x {z}")), "{row}");
        assert!(row.split_whitespace().any(|word| word == dispatch.iterations().to_string()), "{row}");
    }
}

fn what_is_wrong_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong");
    for (arguments, expected) in [
        ("min_pool", "min_pool"),
        ("--shape 1,1,8", "--shape"),
        ("max_pool --shape 1,1,8", "--kernel"),
        ("max_pool --kernel 3", "--shape"),
        ("adaptive_max_pool --shape 1,1,8", "--output-size"),
        ("max_pool --shape 1,1,eight --kernel 3", "eight"),
        ("max_pool --shape 1,1,-8 --kernel 3", "-8"),
        ("max_pool --shape 1,8 --kernel 3", "2 axes"),
        ("max_pool --shape 1,1,0 --kernel 3", "extent 0"),
        ("max_pool --shape 1,4294967296,4294967296,9 --kernel 3,3", "64-bit"),
        ("max_pool --shape 1,1,8 --kernel 11", "effective kernel 11 exceeds the padded input 8"),
        ("max_pool --shape 1,1,8 --kernel 3,3", "kernel_shape has 2 values"),
        ("max_pool --shape 1,1,8 --kernel 0", "kernel_shape[0] is 0"),
        ("max_pool --shape 1,1,8 --kernel 3 --strides -1", "strides[0] is -1"),
        ("max_pool --shape 1,1,8 --kernel 3 --pads -1,0", "pads[0] is -1"),
        ("max_pool --shape 1,1,8 --kernel 3 --pads 2,0 --preset pytorch", "limit of 1"),
        ("max_pool --shape 1,1,8 --kernel 3 --auto-pad FULL", "\"FULL\", expected NOTSET"),
        ("max_pool --shape 1,1,8 --kernel 3 --ceil-mode 2", "ceil_mode: unknown value \"2\""),
        ("max_pool --shape 1,1,8 --kernel 3 --storage-order -1", "storage_order: unknown value \"-1\""),
        ("max_pool --shape 1,1,8 --kernel 3 --activation Gelu", "\"Gelu\""),
        ("max_pool --shape 1,1,8 --kernel 3 --activation-params 1", "activation"),
        ("max_pool --shape 1,1,8 --kernel 3 --activation Clip --activation-params 0,NaN", "activation_params[1]"),
        ("max_pool --shape 1,1,8 --kernel 3 --dtype f8", "f32, f16, bf16"),
        ("max_pool --shape 1,1,8 --kernel 3 --preset caffe", "onnx, onnxruntime"),
        ("max_pool --shape 1,1,8 --kernel 3 --nan-policy never", "seed_first, propagate_last, seed_lowest, ignore"),
        ("max_pool --shape 1,65536,32768 --kernel 1 --indices i32", "i32 indices cannot address 2147483648"),
        ("max_pool --shape 1,1,8 --kernel 3 --family gather", "--family gather does not compute this plan"),
        ("max_pool --shape 1,1,8000 --kernel 3 --max-binding-bytes 300", "6144 needed, but the limit is 300"),
        ("max_pool --shape 1,1,8000 --kernel 3 --max-buffer-bytes 2000 --family direct", "32000 needed"),
        ("max_pool --shape 1,1,8 --kernel 3 --limits none", "webgpu"),
        ("max_pool --shape 1,1,8 --kernel 3 --wgsl=2", "--wgsl=2, but the number of dispatches is 1"),
        ("max_pool --shape 1,1,8 --kernel 3 --wgsl=0", "--wgsl=0"),
        ("max_pool --shape 1,1,8 --kernel 3 --output-size 3", "--output-size"),
        ("global_max_pool --shape 1,1,8 --kernel 3", "--kernel"),
        ("max_unpool --shape 1,1,8 --kernel 3 --indices none", "Indices"),
        ("max_unpool --shape 1,1,8 --kernel 70 --specialised", "generic build alone"),
        ("max_pool --shape 1,1,8 --kernel 3 --family accumulating --specialised", "does not have this build"),
        ("max_pool --shape 1,1,8 --kernel 3 --family thread_tile --generic", "does not have this build"),
        ("max_pool --shape 1,1,8 --kernel 3 --specialised --generic", "cannot be used with"),
        ("max_unpool --shape 1,1,8 --kernel 2 --output-shape 1,1,3", "output_shape 3 is below the inferred extent 9"),
        ("max_unpool --shape 1,1,8 --kernel 2 --dilations 2", "--dilations"),
        ("adaptive_max_pool --shape 1,1,8 --output-size -3", "output_size[0] is -3"),
    ] {
        EXAMPLE.fails(&folder, &arguments.split_whitespace().collect::<Vec<_>>(), expected);
    }
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["max_pool", "global_max_pool", "max_unpool", "adaptive_max_pool", "--wgsl"]);
    EXAMPLE.has_help(&["max_pool", "--help"], &["--kernel", "--ceil-mode", "--preset", "tensorflow", "--family"]);
    EXAMPLE.has_help(&["max_unpool", "--help"], &["--output-shape", "--out-of-bounds", "onnx_after_1_23"]);
}
