//! The texts of all kernels: those of the sweep, or what the program `texts` has written of them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::translations::sweep;

/// Which kernels a program takes.
#[derive(Debug, Clone, clap::Args)]
pub struct Wanted {
    /// Only kernels whose name contains this
    #[arg(long, default_value = "")]
    pub name: String,
    /// Take the texts from this folder, in which `texts` has written them as WGSL: composing all of them takes a while
    #[arg(long, value_name = "FOLDER")]
    pub from: Option<PathBuf>,
}

impl Wanted {
    /// The texts, each with the name of a kernel that has it.
    pub fn texts(&self) -> Result<Vec<(String, String)>, String> {
        let mut texts = match &self.from {
            Some(folder) => read(folder)?,
            None => sweep::texts().into_iter().collect(),
        };
        texts.sort();
        texts.retain(|(_, name)| name.contains(&self.name));
        if texts.is_empty() { Err(format!("no kernel is named {:?}", self.name)) } else { Ok(texts) }
    }
}

fn read(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let contents = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let list: Vec<Value> = serde_json::from_str(&contents("manifest.json")?).map_err(|error| error.to_string())?;
    let text = |entry: &Value| {
        let (kernel, file) = (entry["kernel"].as_str(), entry["files"]["wgsl"].as_str());
        let (kernel, file) = kernel.zip(file).ok_or("the manifest names no WGSL")?;
        Ok((contents(file)?, kernel.to_owned()))
    };
    list.iter().map(text).collect()
}
