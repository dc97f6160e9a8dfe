import type { Subprocess } from "bun";

const children = new Set<Subprocess>();

/** Registers a process to be killed after the tests, even if a test that times out does not dispose of it. */
export function killAfterTests(child: Subprocess): void {
  children.add(child);
  child.exited.then(() => children.delete(child));
}

/** Called after the last test file; where several processes run the files, after each. */
export async function killChildren(): Promise<void> {
  const killed = [...children];
  for (const child of killed) child.kill("SIGKILL");
  await Promise.all(killed.map((child) => child.exited));
}
