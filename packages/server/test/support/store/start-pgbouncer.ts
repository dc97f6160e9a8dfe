import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expectEventually } from "../eventually.ts";
import { freePort } from "../free-port.ts";
import { killAfterTests } from "../presage/child-processes.ts";
import { connectTo } from "./postgres.ts";

/** The path of PgBouncer; undefined if it is not installed. Tests that need it are then skipped. */
export const pgbouncerProgram =
  Bun.which("pgbouncer", { PATH: `${process.env.PATH}:/usr/sbin` }) ?? undefined;

if (pgbouncerProgram === undefined) {
  process.stderr.write(
    "Tests with PgBouncer are skipped: no pgbouncer was found (Debian: apt-get install pgbouncer).\n",
  );
}

/** A real PgBouncer. */
export interface TestPgbouncer extends AsyncDisposable {
  /** The same database through it. */
  url: string;
}

/** Starts PgBouncer in front of a database. */
export async function startPgbouncer(
  databaseUrl: string,
  poolMode: "session" | "transaction",
): Promise<TestPgbouncer> {
  const direct = new URL(databaseUrl);
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), "presage-pgbouncer-"));
  await chmod(directory, 0o755);
  const file = join(directory, "pgbouncer.ini");
  const target = `host=127.0.0.1 port=${direct.port} user=${direct.username} password=${direct.password}`;
  await writeFile(
    file,
    ["[databases]", `* = ${target}`, "[pgbouncer]", "listen_addr = 127.0.0.1", `listen_port = ${port}`]
      .concat([
        "unix_socket_dir =",
        "auth_type = any",
        `pool_mode = ${poolMode}`,
        "default_pool_size = 40",
        "",
      ])
      .join("\n"),
  );
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = Bun.spawn([pgbouncerProgram ?? "", ...user, file], { stdout: "ignore", stderr: "ignore" });
  killAfterTests(child);
  const url = Object.assign(new URL(databaseUrl), { port: String(port) }).href;
  const isUp = async () => {
    const client = await connectTo(url).catch(() => undefined);
    await client?.end();
    return client !== undefined;
  };
  await expectEventually(isUp, true);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
