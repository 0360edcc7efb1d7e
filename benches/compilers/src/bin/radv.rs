//! Judges kernels by AMD's compiler (RADV with ACO, in Mesa) on null hardware.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use compilers::family::Family;
use compilers::worker::{self, Unavailable};

#[derive(Parser)]
struct Options {
    /// Judge one WGSL text by itself, entry point `main`
    #[arg(long, value_name = "FILE")]
    wgsl: Option<PathBuf>,
    /// The GPUs to compile for; both unless said otherwise
    #[arg(long, value_enum, value_delimiter = ',')]
    family: Vec<Family>,
    /// Write assembly and intermediate representation to this folder
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = if options.worker { worker::serve().map(|()| ExitCode::SUCCESS) } else { run(&options) };
    outcome.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn run(options: &Options) -> Result<ExitCode, String> {
    let path = options.wgsl.as_ref().ok_or("--wgsl FILE")?;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (kernel, _) = compilers::spirv::kernel(&text)?;
    let families = if options.family.is_empty() { Family::ALL.to_vec() } else { options.family.clone() };
    for family in families {
        let (device, results) = match worker::compile_all(family, std::slice::from_ref(&kernel)) {
            Ok(it) => it,
            Err(Unavailable::Driver(what)) => {
                eprintln!("{what}: install Mesa's Vulkan drivers (Debian: mesa-vulkan-drivers)");
                return Ok(ExitCode::from(3));
            }
            Err(Unavailable::Family(family)) => {
                println!("{}: this driver does not know it (navi31 needs Mesa 23)", family.name());
                continue;
            }
            Err(Unavailable::Fault(what)) => return Err(what),
        };
        for result in results {
            let compiled = result?;
            let of = |name: &str| compiled.statistic(name).unwrap_or(f64::NAN);
            println!(
                "{:<7} VGPRs {:>3}  spilled {} + {} scalar  scratch {}  LDS {}  waves/SIMD {}  wave {}  workgroup {}  instructions {}  branches {}  inverse throughput {} (driver's, loops 16-fold)  {device}",
                family.name(),
                of("VGPRs"),
                of("Spilled VGPRs"),
                of("Spilled SGPRs"),
                of("Scratch size"),
                of("LDS size"),
                of("Subgroups per SIMD"),
                compiled.wave_size,
                kernel.workgroup,
                of("Instructions"),
                of("Branches"),
                of("Inverse Throughput"),
            );
            if let Some(folder) = &options.write {
                std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
                for (ending, text) in [("s", &compiled.assembly), ("aco", &compiled.ir)] {
                    std::fs::write(folder.join(format!("{}.{ending}", family.name())), text)
                        .map_err(|error| error.to_string())?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
