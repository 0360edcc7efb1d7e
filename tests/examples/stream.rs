//! The example `stream`, from the outside.

use std::fs;
use std::path::Path;

use gpu_test::gpu_test;
use support::splitmix::splitmix64;

use crate::example::{Example, Files, line, names};

static STREAM: Example = Example::new("stream");
pub const EXAMPLES: Files = &[(&STREAM, wrong)];

/// A .npy file as NumPy writes it.
fn npy(path: &Path, descr: &str, shape: &str, elements: &[u8]) {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    fs::write(path, [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()).unwrap();
}

#[gpu_test]
fn it_streams_from_npy_to_npy() {
    let folder = STREAM.scratch("npy");
    // Few different values, so that maxima tie.
    let x: Vec<f32> = (0..2 * 3 * 90 * 70).map(|at| (splitmix64(at) % 256) as f32 - 100.0).collect();
    npy(&folder.join("x.npy"), "<f4", "(2, 3, 90, 70)", bytemuck::cast_slice(&x));
    // Index tensors lie in planes, whatever the layout of X.
    for (layout, y, indices) in [("nchw", [2, 3, 44, 34], [2, 3, 44, 34]), ("nhwc", [2, 1, 44, 70], [2, 70, 1, 44])] {
        // The example reads its files again, and compares their elements with the reference's.
        let arguments = "x.npy --kernel 3 --stride 2 --pads 1 --dilation 2 --budget 128KiB --indices i.npy --check";
        STREAM.says(&folder, &format!("{arguments} --layout {layout}"), &["bit for bit"]);
        let hat = "x.npy --operator top_hat --kernel 5 --budget 128KiB --out hat.npy --check";
        STREAM.says(&folder, &format!("{hat} --layout {layout}"), &["bit for bit"]);
        fs::remove_file(folder.join("hat.npy")).unwrap();
        for (name, descr, size, shape) in [("y.npy", "<f4", 4, y), ("i.npy", "<i8", 8, indices)] {
            let (own, expected) = (fs::read(folder.join(name)).unwrap(), folder.join("expected.npy"));
            let elements = shape.iter().product::<usize>() * size;
            let text = format!("({},)", shape.map(|extent| extent.to_string()).join(", "));
            npy(&expected, descr, &text, &own[own.len() - elements..]);
            assert!(own == fs::read(&expected).unwrap(), "{name} is not as NumPy writes it");
            fs::remove_file(expected).unwrap();
        }
    }
    assert_eq!(names(&folder), ["i.npy", "x.npy", "y.npy"]);
}

#[test]
fn safetensors_go_in_and_out_and_the_cpu_does_it_too() {
    let folder = STREAM.scratch("safetensors");
    let x: Vec<f32> = (0..3000).map(|at| at as f32).collect();
    let header = r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1,2,1500],"data_offsets":[4,12004]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    let bytes = [&length[..], header.as_bytes(), b"abcd", bytemuck::cast_slice(&x)].concat();
    fs::write(folder.join("x.safetensors"), bytes).unwrap();
    STREAM.fails(&folder, "x.safetensors", "name one with --tensor");
    STREAM.fails(&folder, "x.safetensors --tensor z", "no tensor z");
    let arguments = "x.safetensors --tensor x --kernel 5 --stride 1 --out y.safetensors --backend cpu --budget 32KiB";
    STREAM.says(&folder, arguments, &[]);
    let bytes = fs::read(folder.join("y.safetensors")).unwrap();
    let written = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let tensor = written.tensor("y").unwrap();
    // The maximum of five numbers that grow is the last one.
    let expected = [&x[4..1500], &x[1504..]].concat();
    assert_eq!((tensor.shape(), tensor.data()), (&[1, 2, 1496][..], bytemuck::cast_slice(&expected)));
}

#[gpu_test]
fn without_arguments_it_brings_its_own_file_and_takes_it_away() {
    let folder = STREAM.scratch("own");
    let temporary = folder.to_str().unwrap();
    let output = STREAM.run(&folder, &[("TMPDIR", temporary), ("TEMP", temporary), ("TMP", temporary)], "");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{report}{}", String::from_utf8_lossy(&output.stderr));
    assert!(report.contains("bit for bit"), "{report}");
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    // The memory that the example held stays within its budget.
    let figure = |name| -> f64 { line(&report, name).split_whitespace().next().unwrap().parse().unwrap() };
    assert!(figure("held") <= figure("budget"), "{report}");
    if cfg!(target_os = "linux") {
        // A software adapter's driver holds most of it: 352 MiB were held for a file of 8 MiB, 363 for this one of 64.
        assert!(figure("process") <= figure("budget") + 400.0, "{report}");
    }
}

/// Files that hold no tensor that can be read.
fn wrong(folder: &Path) {
    let file =
        |name: &str, descr: &str, shape: &str, bytes: usize| npy(&folder.join(name), descr, shape, &vec![0; bytes]);
    file("x.npy", "<f4", "(1, 1, 8)", 32);
    file("short.npy", "<f4", "(1, 1, 8)", 31);
    file("flat.npy", "<f4", "(8,)", 32);
    file("text.npy", "<U3", "(1, 1, 8)", 96);
    file("big.npy", ">f4", "(1, 1, 8)", 32);
    file("huge.npy", "<f4", "(99999999999, 99999999999, 8)", 32);
    fs::write(folder.join("none.npy"), "no tensor at all").unwrap();
    fs::write(folder.join("cut.npy"), b"\x93NUMPY\x01\x00\xff\xff{").unwrap();
    fs::write(folder.join("none.safetensors"), "no tensor at all").unwrap();
    let fortran = fs::read(folder.join("x.npy")).unwrap();
    let fortran = String::from_utf8_lossy(&fortran).replace("False", "True ").into_bytes();
    // The magic's first byte is no UTF-8.
    fs::write(folder.join("fortran.npy"), [b"\x93", &fortran[3..]].concat()).unwrap();
}

/// Signals and full disks differ between systems, so these tests are for Unix only.
#[cfg(unix)]
pub mod interrupted {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use super::*;

    fn x(folder: &Path, rows: usize) {
        npy(&folder.join("x.npy"), "<f4", &format!("(1, 1, {rows}, 1024)"), &vec![0; rows * 4096]);
    }

    #[test]
    fn ctrl_c_leaves_no_half_written_file() {
        let folder = STREAM.scratch("ctrl_c");
        x(&folder, 8192);
        // Windows larger than the budget, which are read in parts and take a while.
        let arguments = "x.npy --kernel 512 --stride 32 --budget 200KiB --indices i.npy --backend cpu";
        let mut command = STREAM.command(&folder, &arguments.split(' ').collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        stderr.read_line(&mut first).unwrap();
        assert!(first.contains("10 %"), "{first}");
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
        assert!(rest.lines().last().unwrap().starts_with("stream: stopped after"), "{rest}");
        assert_eq!(names(&folder), ["x.npy"]);
    }

    #[test]
    fn a_full_disk_leaves_no_half_written_file() {
        let folder = STREAM.scratch("full");
        x(&folder, 256);
        fs::write(folder.join("y.npy"), "of an earlier run").unwrap();
        let program = STREAM.command(&folder, &[""; 0]).get_program().to_owned();
        // A limit on the size of files is a disk that is full, without the disk.
        let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" x.npy --out y.npy --backend cpu";
        let output = Command::new("sh").arg("-c").arg(script).arg(program).current_dir(&folder).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.lines().count() == 1 && stderr.contains("cannot write y.npy"), "{stderr}");
        assert_eq!(names(&folder), ["x.npy", "y.npy"]);
        assert_eq!(fs::read_to_string(folder.join("y.npy")).unwrap(), "of an earlier run");
    }
}
