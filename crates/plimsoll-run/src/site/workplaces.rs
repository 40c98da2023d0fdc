//! Where applications work: a directory on each target, and directories elsewhere for what is not to be measured.

use std::path::{Path, PathBuf};

use plimsoll_applications::{
    application::{Application, Places, StageError},
    user::User,
};
use plimsoll_io::block_device;
use plimsoll_workload::plan::{CellPlan, Plan};

use super::Sites;
use crate::{
    objects::leftovers,
    run::{RunError, Surroundings},
};

/// Refuses a user whom nobody knows, before anything is made for his commands.
pub(crate) fn check_users(plan: &Plan) -> Result<(), RunError> {
    plan.cells.iter().filter_map(CellPlan::application).try_for_each(|application| match User::of(application) {
        Err(error @ StageError::NoUser(_)) => Err(RunError::NoUser(error)),
        known => known.map(drop).map_err(RunError::Application),
    })
}

impl Sites {
    /// For each cell that runs commands the application, of which nothing has begun yet.
    pub(crate) fn applications(
        &mut self,
        plan: &Plan,
        surroundings: &Surroundings,
    ) -> Result<Vec<Option<Application>>, RunError> {
        let cells =
            || plan.cells.iter().enumerate().filter_map(|(index, cell)| Some((index, cell, cell.application()?)));
        let mut applications: Vec<Option<Application>> = plan.cells.iter().map(|_| None).collect();
        if cells().next().is_none() {
            return Ok(applications);
        }
        let elsewhere = &surroundings.temporary_directory;
        // What cannot be looked into is told when something is to be made there.
        let _ = leftovers::sweep_directory(elsewhere);
        let elsewhere = self.objects.create_directory(elsewhere)?;
        let mut own: Vec<(&str, _)> = Vec::new();
        let mut datasets: Vec<(Option<User>, PathBuf)> = Vec::new();
        for (index, cell, application) in cells() {
            let user = User::of(application)?;
            let target = match own.iter().position(|(target, _)| *target == cell.target) {
                Some(known) => known,
                None => {
                    own.push((&cell.target, self.objects.create_directory(Path::new(&cell.target))?));
                    own.len() - 1
                }
            };
            // Of each kind as many as there are cells, if it comes to that.
            let number = |kind: usize, index: usize| kind * plan.cells.len() + index;
            let dataset = match datasets.iter().find(|(owner, _)| *owner == user) {
                Some((_, known)) => known.clone(),
                None => {
                    let made = elsewhere.create_work(number(2, datasets.len()), user).map_err(RunError::Io)?;
                    datasets.push((user, made.clone()));
                    made
                }
            };
            let places = Places {
                target_dir: own[target].1.create_work(index, user).map_err(RunError::Io)?,
                run_dir: elsewhere.create_work(number(0, index), user).map_err(RunError::Io)?,
                logs: elsewhere.create_work(number(1, index), None).map_err(RunError::Io)?,
                dataset,
                device: block_device::device_of(Path::new(&cell.target)),
                user,
                environment: surroundings.environment.clone(),
            };
            applications[index] = Some(Application::new(application, self.run, &cell.target, places)?);
        }
        Ok(applications)
    }
}
