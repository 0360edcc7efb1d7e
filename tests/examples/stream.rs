//! The example `stream`, from the outside.

use std::fs;
use std::path::Path;

use support::calls::reference;
use support::tests;
use wgpu_pooling::{DType, IndexType, Layout, MaxPool, TensorView};

use crate::example::Example;

tests! {
    gpu =>
        it_streams_what_the_reference_gives_from_npy_to_npy,
        without_arguments_it_brings_its_own_file_and_takes_it_away;
    cpu =>
        safetensors_go_in_and_out_and_the_cpu_does_it_too,
        what_is_wrong_is_one_line;
}

static STREAM: Example = Example::new("stream");

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

/// The header's text and the elements of a file that the example wrote.
fn read_npy(path: &Path) -> (String, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0);
    (String::from_utf8(bytes[10..10 + length].to_vec()).unwrap(), bytes[10 + length..].to_vec())
}

fn noise(elements: usize) -> Vec<f32> {
    let mut state = 5u32;
    let value = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as f32 - 100.0
    };
    (0..elements).map(value).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn it_streams_what_the_reference_gives_from_npy_to_npy() {
    let folder = STREAM.scratch("npy");
    let x = noise(2 * 3 * 90 * 70);
    npy(&folder.join("x.npy"), "<f4", "(2, 3, 90, 70)", bytemuck::cast_slice(&x));
    for (layout, name) in [(Layout::Nchw, "nchw"), (Layout::Nhwc, "nhwc")] {
        let arguments = "--kernel 3 --stride 2 --pads 1 --dilation 2 --budget 128KiB --indices i.npy --check --layout";
        let arguments: Vec<&str> = ["x.npy"].into_iter().chain(arguments.split(' ')).chain([name]).collect();
        let report = STREAM.run_well(&folder, &arguments);
        assert!(report.contains("bit for bit"), "{report}");
        let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]).dilations([2, 2]).layout(layout);
        let plan = pool.plan(&[2, 3, 90, 70], DType::F32, Some(IndexType::I64)).unwrap();
        let x = TensorView::new(&[2, 3, 90, 70], &x).unwrap();
        let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x).unwrap();
        let (header, written) = read_npy(&folder.join("y.npy"));
        let shape: String = y.shape().iter().map(|extent| format!("{extent}, ")).collect();
        let expected = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
        assert_eq!(header.trim_end(), expected);
        assert_eq!(written, bytemuck::cast_slice::<f32, u8>(y.data()));
        let (header, written) = read_npy(&folder.join("i.npy"));
        assert!(header.starts_with("{'descr': '<i8'"), "{header}");
        assert_eq!(written, bytemuck::cast_slice::<i64, u8>(indices.data()));
    }
    assert_eq!(names(&folder), ["i.npy", "x.npy", "y.npy"]);
}

fn safetensors_go_in_and_out_and_the_cpu_does_it_too() {
    let folder = STREAM.scratch("safetensors");
    let x = noise(3000);
    let header = r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1,2,1500],"data_offsets":[4,12004]}}"#;
    let elements: &[u8] = bytemuck::cast_slice(&x);
    let length = (header.len() as u64).to_le_bytes();
    fs::write(folder.join("x.safetensors"), [&length[..], header.as_bytes(), b"abcd", elements].concat()).unwrap();
    STREAM.fails(&folder, &["x.safetensors"], "name one with --tensor");
    STREAM.fails(&folder, &["x.safetensors", "--tensor", "z"], "no tensor z");
    let arguments = "x.safetensors --tensor x --kernel 5 --stride 1 --out y.safetensors --backend cpu --budget 32KiB";
    STREAM.run_well(&folder, &arguments.split(' ').collect::<Vec<_>>());
    let plan = MaxPool::new([5]).plan(&[1, 2, 1500], DType::F32, None).unwrap();
    let y = reference::max_pool(&plan, TensorView::new(&[1, 2, 1500], &x).unwrap()).unwrap();
    let bytes = fs::read(folder.join("y.safetensors")).unwrap();
    let written = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let tensor = written.tensor("y").unwrap();
    assert_eq!((tensor.shape(), tensor.data()), (y.shape(), bytemuck::cast_slice::<f32, u8>(y.data())));
}

fn without_arguments_it_brings_its_own_file_and_takes_it_away() {
    let folder = STREAM.scratch("own");
    let temporary = folder.to_str().unwrap();
    let output = STREAM.run_with(&folder, &[("TMPDIR", temporary), ("TEMP", temporary), ("TMP", temporary)], &[]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{report}{}", String::from_utf8_lossy(&output.stderr));
    assert!(report.contains("bit for bit"), "{report}");
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    // The memory that the example held stays within its budget.
    let figure = |name: &str| -> f64 {
        let line = report.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {report}"));
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    assert!(figure("held") <= figure("budget"), "{report}");
    if cfg!(target_os = "linux") {
        // A software adapter's driver holds most of it: 352 MiB were held for a file of 8 MiB, 363 for this one of 64.
        assert!(figure("process") <= figure("budget") + 400.0, "{report}");
    }
}

fn what_is_wrong_is_one_line() {
    let folder = STREAM.scratch("wrong");
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
    let before = names(&folder);
    let table: &[(&[&str], &str)] = &[
        (&["absent.npy"], "cannot read absent.npy"),
        (&["x.txt"], "ends in .npy or .safetensors"),
        (&["none.npy"], "not a .npy file"),
        (&["cut.npy"], "ends within its header"),
        (&["none.safetensors"], "not a .safetensors file"),
        (&["short.npy"], "but its header asks for"),
        (&["text.npy"], "its element type is <U3"),
        (&["big.npy"], "its element type is >f4"),
        (&["fortran.npy"], "Fortran order"),
        (&["huge.npy"], "more elements than"),
        (&["flat.npy", "--backend", "cpu"], "1 axes"),
        (&["x.npy", "--kernel", "0"], "kernel_shape[0] is 0"),
        (&["x.npy", "--kernel", "99", "--stride", "1"], "exceeds the padded input"),
        (&["x.npy", "--budget", "12parsec"], "parsec"),
        (&["x.npy", "--budget", "99999999999GiB"], "64 bits"),
        (&["x.npy", "--budget", "10", "--backend", "cpu"], "the limit is 10"),
        (&["x.npy", "--out", "y.png"], "ends in .npy or .safetensors"),
        (&["x.npy", "--out", "x.npy"], "over what is read"),
        (&["x.npy", "--out", "y.npy", "--indices", "y.npy"], "the same file"),
        (&["x.npy", "--out", "absent/y.npy", "--backend", "cpu"], "cannot write absent/y.npy"),
        (&["x.npy", "--sharpen"], "--sharpen"),
    ];
    for &(arguments, expected) in table {
        STREAM.fails(&folder, arguments, expected);
    }
    assert_eq!(names(&folder), before, "nothing is left behind");
    STREAM.has_help(&["--help"], &["--kernel", "--stride", "--budget", "--out", "--indices", "--backend"]);
}

/// Signals and full disks differ between systems, so these tests are for Unix only.
#[cfg(unix)]
pub mod interrupted {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use super::*;

    tests! {
        cpu =>
            ctrl_c_leaves_no_half_written_file,
            a_full_disk_leaves_no_half_written_file;
    }

    fn x(folder: &Path, rows: usize) {
        npy(&folder.join("x.npy"), "<f4", &format!("(1, 1, {rows}, 1024)"), &vec![0; rows * 4096]);
    }

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

    fn a_full_disk_leaves_no_half_written_file() {
        let folder = STREAM.scratch("full");
        x(&folder, 256);
        fs::write(folder.join("y.npy"), "of an earlier run").unwrap();
        let program = STREAM.command(&folder, &[]).get_program().to_owned();
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
