import { spawnSync } from "node:child_process";
import { chownSync, copyFileSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./ensure-installed.mjs";

/**
 * Lays out the image's file system in a folder: the executable, the C library that it is linked to, /data and /tmp. User and environment
 * are those of the Dockerfile.
 */
export function imageRoot(executable, folder) {
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  const [, user = ""] = /^USER (\d+:\d+)$/m.exec(dockerfile) ?? [];
  const [, variables = ""] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? [];
  const environment = Object.fromEntries(
    variables
      .split(/[\s\\]+/)
      .filter(Boolean)
      .map((assignment) => assignment.split(/=(.*)/s)),
  );
  const program = "/usr/local/bin/presage";
  const files = [[realpathSync(executable), program], ...librariesOf(executable)];
  let compressedBytes = 0;
  for (const [from, to] of files) {
    mkdirSync(join(folder, dirname(to)), { recursive: true });
    copyFileSync(from, join(folder, to));
    compressedBytes += gzipSync(readFileSync(from)).length;
  }
  for (const name of ["data", "dev", "proc", "tmp"]) mkdirSync(join(folder, name));
  const [uid, gid] = user.split(":").map(Number);
  chownSync(join(folder, "data"), uid, gid);

  // Like a container engine, makes everything read-only except the volume and temporary files.
  const mountsWith = (hasVolume) =>
    [
      'mount --bind "$0" "$0"',
      ...(hasVolume ? ['mount --bind "$0/data" "$0/data"'] : []),
      'mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"',
      'mount --rbind /dev "$0/dev"',
      'mount -t proc proc "$0/proc"',
      'mount -o remount,bind,ro "$0"',
      'exec chroot --userspec="$1" "$0" "$2" "$3"',
    ].join(" && ");
  return {
    environment,
    megabytes: (compressedBytes / 1e6).toFixed(1),
    /** A command that runs the image's program; without its volume, only /tmp can be written. */
    enter: (args, { hasVolume = true } = {}) => [
      ...["unshare", "--mount", "sh", "-c", mountsWith(hasVolume), folder, user, program],
      ...args,
    ],
    /**
     * A command that runs the image's program as its user among the image's files where nothing may be mounted: not by chroot, as the
     * program needs /proc.
     */
    enterUnmounted: (args) => [
      ...["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"],
      ...[
        "env",
        `--chdir=${join(folder, "data")}`,
        `PRESAGE_DATABASE_URL=sqlite:${join(folder, "data/presage.db")}`,
      ],
      join(folder, program),
      ...args,
    ],
  };
}

/** The shared libraries that a program is linked to, with the loader, each at the path where it is looked for. */
function librariesOf(executable) {
  const { stdout } = spawnSync("ldd", [executable], { encoding: "utf8" });
  return [...stdout.matchAll(/(?:^|=>)\s*(\/\S+) \(0x/gm)].map(([, path]) => [realpathSync(path), path]);
}
