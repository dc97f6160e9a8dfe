import { join } from "node:path";

const build = join(import.meta.dir, "../../build.ts");

let built: Promise<void> | undefined;

/** Makes sure that the server serves the current sources. */
export async function buildDashboard(): Promise<void> {
  built ??= buildOnce();
  await built;
}

async function buildOnce(): Promise<void> {
  // `npm test` has built the dashboard already.
  if (process.env.PRESAGE_TEST_MAIN !== undefined) return;
  const child = Bun.spawn([process.execPath, build], { stdout: "ignore", stderr: "pipe" });
  const [code, said] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (code !== 0) throw new Error(`The dashboard could not be built:\n${said}`);
}
