//! What lies where a file should: links, pipes, devices, sockets and folders in place of models and of what belongs to
//! them.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use support::place;
use wgpu_pooling::onnx::{FileTensor, Model, ModelError};

use super::tensors;

type Read = fn(&Path) -> Result<(), ModelError>;

/// Every way in which a file is read: its name in the folder `inner`, and the call.
const WAYS: [(&str, Read); 5] = [
    ("model.onnx", |path| Model::open(path).map(drop)),
    ("model.xml", |path| Model::open(path).map(drop)),
    ("input_0.pb", |path| FileTensor::open(path).map(drop)),
    ("weights", external),
    ("model.bin", weights),
];

/// Reads a model in the folder whose constant lies in a file.
fn external(path: &Path) -> Result<(), ModelError> {
    let model = path.with_file_name("model.onnx");
    let name = path.file_name().unwrap().to_str().unwrap();
    std::fs::write(&model, tensors::external(&[("location", name)], &[1, 1, 2]).0).unwrap();
    Model::open(&model)?.constant(0).map(drop)
}

/// Reads an IR in the folder whose weights lie in model.bin.
fn weights(path: &Path) -> Result<(), ModelError> {
    let model = path.with_extension("xml");
    std::fs::copy(place::root().join("tests/models/openvino/model.xml"), &model).unwrap();
    Model::open(&model).map(drop)
}

/// The error of a read, which must not wait for what never comes.
fn refusal(read: Read, path: PathBuf) -> String {
    let (sender, receiver) = mpsc::channel();
    let shown = path.display().to_string();
    std::thread::spawn(move || sender.send(read(&path)));
    let read = receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{shown}: it waits"));
    read.expect_err(&shown).to_string()
}

#[test]
fn what_is_no_regular_file_is_refused_before_it_is_opened() {
    for (name, read) in WAYS {
        let inner = tensors::folder(&format!("irregular {name}")).join("inner");
        let at = |kind: &str| {
            let folder = inner.join(kind);
            std::fs::create_dir(&folder).unwrap();
            folder.join(name)
        };
        let (pipe, folder, device) = (at("pipe"), at("folder"), at("device"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::create_dir(&folder).unwrap();
        symlink("/dev/zero", &device).unwrap();
        // The name of a socket has at most some hundred bytes.
        let socket = std::env::temp_dir().join(format!("wgpu-pooling-{}", std::process::id())).join(name);
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        for path in [pipe, folder, socket.clone()] {
            let error = refusal(read, path.clone());
            assert!(error.contains("it is no regular file"), "{}: {error}", path.display());
        }
        let error = refusal(read, device);
        assert!(error.contains("it is no regular file") || error.contains("a link that leaves"), "{name}: {error}");
        drop(listener);
        std::fs::remove_dir_all(socket.parent().unwrap()).unwrap();
    }
}

#[test]
fn a_link_is_followed_inside_the_folder_and_not_out_of_it() {
    for (name, read) in [WAYS[3], WAYS[4]] {
        let folder = tensors::folder(&format!("links {name}"));
        let path = folder.join("inner").join(name);
        symlink("data/weights", &path).unwrap();
        assert_eq!(read(&path), Ok(()), "{name}");
        // A link to a link, and a folder that is one.
        symlink("../../outside", folder.join("inner/data/out")).unwrap();
        symlink("..", folder.join("inner/up")).unwrap();
        for target in ["../outside", "data/out", "up/outside"] {
            std::fs::remove_file(&path).unwrap();
            symlink(target, &path).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("a link that leaves the model's folder"), "{name}: {error}");
        }
    }
}

/// Files of which the system says that they have no bytes.
#[cfg(target_os = "linux")]
#[test]
fn no_more_is_read_than_a_file_has_when_it_is_opened() {
    let error = Model::open("/proc/self/maps".as_ref()).unwrap_err();
    assert!(matches!(&error, ModelError::Open { reason, .. } if **reason == ModelError::NoGraph), "{error}");
    let sparse = tensors::folder("sparse").join("model.onnx");
    let file = std::fs::File::create(&sparse).unwrap();
    file.set_len(1 << 31).unwrap();
    let (what, found, limit) = ("bytes of a model", 1 << 31, (1 << 31) - 1);
    assert_eq!(Model::open(&sparse), Err(opened(&sparse, ModelError::TooMany { what, found, limit })));
    let error = FileTensor::open(&sparse).unwrap_err();
    assert!(matches!(error, ModelError::TooMany { .. }), "{error}");
    let xml = sparse.with_extension("xml");
    std::fs::rename(&sparse, &xml).unwrap();
    let limit = 1 << 28;
    assert_eq!(Model::open(&xml), Err(opened(&xml, ModelError::TooMany { what, found, limit })));
}

fn opened(path: &Path, reason: ModelError) -> ModelError {
    ModelError::Open { path: path.display().to_string(), reason: Box::new(reason) }
}

#[test]
fn a_file_that_is_no_model_is_named_with_the_formats() {
    let formats = "which is read as an OpenVINO IR if its name ends in .xml, and as ONNX otherwise";
    for (name, reason) in
        [("Cargo.toml", "a field is of no known wire type, at byte 0"), ("model.xml", "no OpenVINO IR: ")]
    {
        let path = tensors::folder("no model").join(name);
        std::fs::write(&path, "[package]").unwrap();
        let error = Model::open(&path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}, {formats}: {reason}", path.display())), "{error}");
    }
}
