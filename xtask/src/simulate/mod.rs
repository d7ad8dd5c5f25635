//! What happens at sizes that no test machine has?

mod scale;
mod web;

use anyhow::{Context, Result, bail};

/// `simulate scale`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut hosts, mut seed) = (10_000_000, 1);
    let mut args = args.iter();
    match args.next().map(String::as_str) {
        Some("scale") => {}
        _ => bail!("simulate what? There is scale (--hosts N --seed N)"),
    }
    while let Some(arg) = args.next() {
        let place = match arg.as_str() {
            "--hosts" => &mut hosts,
            "--seed" => &mut seed,
            other => bail!("{other} is neither --hosts nor --seed"),
        };
        let value = args.next().with_context(|| format!("{arg} needs a number"))?;
        *place = value.parse::<u32>().with_context(|| format!("{arg} needs a number, not {value}"))?;
    }
    scale::scale(hosts, u64::from(seed));
    Ok(())
}
