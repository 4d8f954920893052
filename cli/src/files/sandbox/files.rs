//! Landlock: the kernel refuses to open files that are not named.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::{Enforced, Reach};

/// The rights of this version of landlock are given up, as far as the kernel knows them.
const NEWEST: ABI = ABI::V6;

/// Gives up all files but those of `reach`.
pub(super) fn restrict(reach: &Reach) -> Result<Enforced, String> {
    match enforce(reach) {
        Ok(RulesetStatus::NotEnforced) => Err("the kernel has no landlock".to_string()),
        Ok(RulesetStatus::PartiallyEnforced) => Ok(Enforced::InPart),
        Ok(RulesetStatus::FullyEnforced) => Ok(Enforced::Fully),
        Err(error) => Err(format!("landlock: {error}")),
    }
}

fn enforce(reach: &Reach) -> Result<RulesetStatus, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for path in &reach.read {
        rules = allow(rules, path, AccessFs::ReadFile | AccessFs::ReadDir)?;
    }
    for path in &reach.written {
        rules = allow(rules, path, writing(reach.has_links))?;
    }
    for path in &reach.devices {
        rules = allow(rules, path, AccessFs::WriteFile.into())?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// The rights in a folder of outputs: temporary files and folders are made, renamed and removed.
fn writing(has_links: bool) -> BitFlags<AccessFs> {
    let rights = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::MakeSym
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir;
    // Without the right to link between folders, the oldest landlock is enforced, too.
    if has_links { rights | AccessFs::Refer } else { rights }
}

/// Adds a rule, unless nothing is there: the run reports that when it opens the path. Anonymous
/// pipes, which /dev/stdout can lead to, need no rule and take none.
fn allow(
    mut rules: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let (Ok(metadata), Ok(open)) = (std::fs::metadata(path), PathFd::new(path)) else {
        return Ok(rules);
    };
    let rights = if metadata.is_dir() { rights } else { rights & AccessFs::from_file(NEWEST) };
    let rule = PathBeneath::new(open, rights);
    // On an error the rules are as they were.
    let _unneeded = (&mut rules).add_rule(rule);
    Ok(rules)
}
