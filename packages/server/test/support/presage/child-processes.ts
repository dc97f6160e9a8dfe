import type { Subprocess } from "bun";

const children = new Set<Subprocess>();

/** Notes a process that must not outlive the tests, even where a test that runs out of time disposes of nothing. */
export function killAfterTests(child: Subprocess): void {
  children.add(child);
  child.exited.then(() => children.delete(child));
}

/** Called once, after the last test file. */
export function killChildren(): void {
  for (const child of children) child.kill("SIGKILL");
}
