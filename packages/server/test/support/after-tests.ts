const works: (() => unknown)[] = [];

/** Registers what releases a resource that the test files of this process share. */
export function runAfterTests(work: () => unknown): void {
  works.push(work);
}

/** Called once, after the last test file. */
export async function releaseShared(): Promise<void> {
  await Promise.all(works.splice(0).map((work) => work()));
}
