import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

const root = join(import.meta.dir, "..");

/** A digest of everything that a build reads: the names and bytes of all files in these folders, and of these other files. */
export function digestOfSources(folders: readonly string[], others: readonly string[]): string {
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.includes(".test."))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const hasher = new Bun.CryptoHasher("sha256");
  for (const file of [...sources.sort(), ...others]) {
    hasher.update(`${relative(root, file)} ${statSync(file).size} `);
    hasher.update(readFileSync(file));
  }
  return hasher.digest("hex");
}
