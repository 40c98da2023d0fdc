//! How long SQL Server takes to import a database from a .bacpac file onto a volume, again and again.
//!
//! The server runs beside the program that imports, which starts when the server answers. Only the import is timed. The
//! log has what `time` prints, which `plimsoll import` reads.

use serde_json::{Value, json};

use super::{ForeignJob, VOLUME};

/// The key of the password of `sa` in the Secret.
pub const PASSWORD_KEY: &str = "sa-password";
/// The key of the address of the .bacpac file in the Secret: such addresses often have a signature in them.
pub const URL_KEY: &str = "bacpac-url";

/// Who the processes are, so that both may write to the volume.
const USER: u32 = 10001;

const FOLDER: &str = "/measured";
const BACKUP: &str = "/backup";

/// Where the tools are in the images of SQL Server, by their age.
const TOOLS: &str = "PATH=$PATH:/opt/mssql-tools18/bin:/opt/mssql-tools/bin:/opt/sqlpackage";

/// Gets the file, and says nothing of where it is: wget itself names the address with whatever goes wrong.
const DOWNLOAD: &str = r#"wget -q -O "$BACKUP/db.bacpac" "$BACPAC_URL" && exit
code=$?
echo "the .bacpac file was not downloaded: wget ended with $code (4: no connection, 8: the server said no)" >&2
exit $code
"#;

/// Whether the server answers a question.
const ANSWERS: &str = r#"SQLCMDPASSWORD=$MSSQL_SA_PASSWORD sqlcmd -b -C -l 5 -S localhost -U sa -Q "SELECT 1""#;

/// Imports and checks that there is something. The first thing that fails ends it, with its exit code.
const RESTORE: &str = r#"set -eu
export SQLCMDPASSWORD="$MSSQL_SA_PASSWORD"
sql() { sqlcmd -b -C -S localhost -U sa -Q "$1"; }
mkdir -p "$FOLDER/db"
for i in $(seq 1 "$ITERATIONS"); do
  sql "IF DB_ID('restored') IS NOT NULL DROP DATABASE restored"
  rm -f "$FOLDER"/db/restored.*
  sql "CREATE DATABASE restored ON (NAME = restored_dat, FILENAME = '$FOLDER/db/restored.mdf') LOG ON (NAME = restored_log, FILENAME = '$FOLDER/db/restored.ldf')"
  echo "Import $i"
  time sqlpackage /a:Import /tsn:localhost /tdn:restored /tu:sa "/tp:$MSSQL_SA_PASSWORD" /ttsc:true "/sf:$BACKUP/db.bacpac" /p:CommandTimeout=600 /p:DatabaseLockTimeout=600 /q:true
  sql "IF NOT EXISTS (SELECT 1 FROM restored.sys.tables) THROW 50000, 'the import left no table', 1"
  sql "DROP DATABASE restored"
done
"#;

/// Where the password and the file come from.
#[derive(Clone, Debug)]
pub enum Secrets {
    /// From a Secret that is there.
    There(String),
    /// From one that is made with the Job.
    New {
        /// The password that `sa` is to have.
        password: String,
        /// Where the .bacpac file is.
        url: String,
    },
}

/// The objects: the Job, and its Secret when that is not there.
#[must_use]
pub fn objects(job: &ForeignJob, secrets: &Secrets, iterations: u32, memory: &str) -> Vec<Value> {
    let (secret, mut objects) = match secrets {
        Secrets::There(name) => (name.clone(), Vec::new()),
        Secrets::New { password, url } => {
            let object = json!({
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": { "name": job.name },
                "type": "Opaque",
                "stringData": { PASSWORD_KEY: password, URL_KEY: url },
            });
            (job.name.clone(), vec![object])
        }
    };
    let from_secret = |name: &str, key: &str| json!({ "name": name, "valueFrom": { "secretKeyRef": { "name": secret, "key": key } } });
    let password = from_secret("MSSQL_SA_PASSWORD", PASSWORD_KEY);
    let security = json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } });
    // The server's file asks for this one, and is not started where it cannot be had. The level `restricted` has it.
    let mut server_security = security.clone();
    server_security["capabilities"]["add"] = json!(["NET_BIND_SERVICE"]);
    let mount = |name: &str, path: &str| json!({ "name": name, "mountPath": path });
    let answers = json!({ "exec": { "command": ["/bin/bash", "-c", format!("{TOOLS}; {ANSWERS}")] } });
    let probe = |failures: u32| {
        let mut probe = answers.clone();
        (probe["periodSeconds"], probe["timeoutSeconds"]) = (json!(5), json!(10));
        probe["failureThreshold"] = json!(failures);
        probe
    };
    let pod = json!({
        "nodeSelector": { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        "initContainers": [
            {
                "name": "download",
                "image": job.image,
                "command": ["/bin/bash", "-c", DOWNLOAD],
                "env": [from_secret("BACPAC_URL", URL_KEY), { "name": "BACKUP", "value": BACKUP }],
                "securityContext": security,
                "volumeMounts": [mount("backup", BACKUP)],
            },
            {
                "name": "server",
                "image": job.image,
                // An init container that always runs is there until the others have ended.
                "restartPolicy": "Always",
                "command": ["/opt/mssql/bin/sqlservr"],
                "env": [{ "name": "ACCEPT_EULA", "value": "Y" }, password],
                "startupProbe": probe(120),
                "readinessProbe": probe(3),
                "resources": { "requests": { "cpu": "1", "memory": memory }, "limits": { "memory": memory } },
                "securityContext": server_security,
                "volumeMounts": [mount(VOLUME, FOLDER), mount("system", "/var/opt/mssql")],
            },
        ],
        "containers": [{
            "name": "restore",
            "image": job.image,
            "command": ["/bin/bash", "-c", format!("{TOOLS}\n{RESTORE}")],
            "env": [
                password,
                { "name": "FOLDER", "value": FOLDER },
                { "name": "BACKUP", "value": BACKUP },
                { "name": "ITERATIONS", "value": iterations.to_string() },
                { "name": "HOME", "value": "/tmp" },
            ],
            "securityContext": security,
            "volumeMounts": [mount(VOLUME, FOLDER), mount("backup", BACKUP)],
        }],
        "volumes": [{ "name": "backup", "emptyDir": {} }, { "name": "system", "emptyDir": {} }],
    });
    objects.push(job.job(1, "restore", pod));
    objects
}
