//! The languages in which a kernel reaches a driver, by the names that command lines have.

use naga::back::glsl::Version;
pub use naga::back::hlsl::ShaderModel as Model;

use crate::source::Source;
use crate::translations::faults::text_faults;
use crate::translations::writers::{glsl, hlsl, msl, spirv};

/// The versions of MSL that wgpu asks for, from macOS 10.13 on.
const MSL_VERSIONS: [(u8, u8); 9] = [(2, 0), (2, 1), (2, 2), (2, 3), (2, 4), (3, 0), (3, 1), (3, 2), (4, 0)];

/// A language in one of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Wgsl,
    /// By the shader model: 5.1 is what FXC takes, 6.0 what DXC takes.
    Hlsl(Model),
    Spirv(u8, u8),
    GlslEs(u16),
    Glsl(u16),
    Msl(u8, u8),
}

/// A kernel in a language.
pub struct Written {
    pub bytes: Vec<u8>,
    /// What is wrong with it at first sight.
    pub faults: Vec<String>,
}

impl Language {
    /// All of them, in the versions that wgpu asks naga for.
    pub fn all() -> Vec<Language> {
        let mut all = vec![Language::Wgsl, Language::Hlsl(Model::V5_1), Language::Hlsl(Model::V6_0)];
        all.extend([(1, 3), (1, 5), (1, 6)].map(|(major, minor)| Language::Spirv(major, minor)));
        all.extend([Language::GlslEs(310), Language::Glsl(430), Language::Glsl(450)]);
        all.extend(MSL_VERSIONS.map(|(major, minor)| Language::Msl(major, minor)));
        all
    }

    /// For example `spirv-1.5`; it is part of file names.
    pub fn name(self) -> String {
        match self {
            Language::Wgsl => "wgsl".to_owned(),
            Language::Hlsl(model) => format!("hlsl-{}", model.to_str().replace('_', ".")),
            Language::Spirv(major, minor) => format!("spirv-{major}.{minor}"),
            Language::GlslEs(version) => format!("glsl-es-{}.{:02}", version / 100, version % 100),
            Language::Glsl(version) => format!("glsl-{}.{:02}", version / 100, version % 100),
            Language::Msl(major, minor) => format!("msl-{major}.{minor}"),
        }
    }

    /// The ending by which compilers know a compute shader in this language.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Wgsl => "wgsl",
            Language::Hlsl(_) => "hlsl",
            Language::Spirv(..) => "spv",
            Language::GlslEs(_) | Language::Glsl(_) => "comp",
            Language::Msl(..) => "metal",
        }
    }

    pub fn named(name: &str) -> Result<Language, String> {
        let names = || Language::all().iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
        Language::all().into_iter().find(|it| it.name() == name).ok_or_else(|| format!("expected one of {}", names()))
    }

    /// A kernel in this language, as wgpu has it written; only WGSL needs no `source`.
    pub fn write(self, wgsl: &str, source: Option<&Source>) -> Result<Written, String> {
        if self == Language::Wgsl {
            return Ok(Written { bytes: wgsl.as_bytes().to_vec(), faults: Vec::new() });
        }
        let source = source.ok_or("the text was not parsed")?;
        let (module, info) = (&source.module, &source.info);
        let text = match self {
            Language::Spirv(major, minor) => {
                let bytes = spirv(module, info, (major, minor)).iter().flat_map(|word| word.to_le_bytes()).collect();
                return Ok(Written { bytes, faults: Vec::new() });
            }
            Language::Wgsl => wgsl.to_owned(),
            Language::Hlsl(model) => hlsl(module, info, model).map_err(|error| error.to_string())?,
            Language::GlslEs(version) => glsl(module, info, Version::Embedded { version, is_webgl: false }),
            Language::Glsl(version) => glsl(module, info, Version::Desktop(version)),
            Language::Msl(major, minor) => msl(module, info, (major, minor)),
        };
        let faults = text_faults(self, &text);
        Ok(Written { bytes: text.into_bytes(), faults })
    }

    /// Spoils a kernel, so that whoever checks it can be seen to notice.
    pub fn spoil(self, written: &mut Written) {
        match self {
            Language::Spirv(..) => written.bytes.truncate(written.bytes.len() - 4),
            Language::Wgsl => written.bytes.extend(b"\nconst spoilt: u32 = undeclared;\n"),
            _ => {
                written.bytes.extend(b"\ndouble spoilt = undeclared;\n");
                written.faults = text_faults(self, &String::from_utf8_lossy(&written.bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { out[id.x] = id.x; }";

    #[test]
    fn every_language_is_found_by_its_name_and_writes_a_kernel() {
        let source = Source::parse(TEXT).unwrap();
        for language in Language::all() {
            assert_eq!(Language::named(&language.name()), Ok(language));
            let mut written = language.write(TEXT, Some(&source)).unwrap();
            assert!(!written.bytes.is_empty() && written.faults.is_empty(), "{}", language.name());
            let before = written.bytes.clone();
            language.spoil(&mut written);
            assert_ne!(before, written.bytes);
        }
        assert!(Language::named("hlsl-4.0").unwrap_err().contains("glsl-es-3.10"));
    }
}
