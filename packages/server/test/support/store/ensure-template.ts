import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/platform/storage/open.ts";
import { connectTo, createDatabaseAt } from "./postgres.ts";

const migrations = join(import.meta.dir, "../../../src/platform/storage/migrations");
/** Any number, the same in every process. */
const lockId = 7_420_311;

/** The name of a database with today's tables and no data, which the first process that needs it creates. */
export async function ensureTemplate(url: string): Promise<string> {
  const name = `presage_template_${digestOfMigrations()}`;
  const client = await connectTo(url);
  try {
    await client.query("select pg_advisory_lock($1)", [lockId]);
    const { rows } = await client.query("select from pg_database where datname = $1", [name]);
    if (rows.length > 0) return name;
    const created = await createDatabaseAt(url);
    const { destroy } = await openDatabase(created, () => {});
    await destroy();
    const { pathname } = new URL(created);
    await client.query(`alter database ${pathname.slice(1)} rename to ${name}`);
    return name;
  } finally {
    await client.end();
  }
}

/** The path of an SQLite file with today's tables and no data, which stays for later runs. */
export async function ensureSqliteTemplate(): Promise<string> {
  const path = join(tmpdir(), `presage-template-${digestOfMigrations()}.db`);
  if (existsSync(path)) return path;
  const directory = await mkdtemp(join(tmpdir(), "presage-template-"));
  const created = join(directory, "presage.db");
  const { destroy } = await openDatabase(`sqlite:${created}`, () => {});
  await destroy();
  await rename(created, path);
  await rm(directory, { recursive: true });
  return path;
}

function digestOfMigrations(): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const file of readdirSync(migrations).sort()) hasher.update(readFileSync(join(migrations, file)));
  return hasher.digest("hex").slice(0, 16);
}
