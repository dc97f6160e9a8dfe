const steps: (() => unknown)[] = [];

/** Registers what is to be done once, after the last test file of this process. */
export function afterTests(step: () => unknown): void {
  steps.push(step);
}

export async function endTests(): Promise<void> {
  for (const step of steps.splice(0)) await step();
}
