/** Runs a program to its end, and fails if it fails. */
export async function runInFolder(
  cwd: string,
  command: string[],
  environment: Record<string, string> = {},
): Promise<string> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} failed:\n${output}${errors}`);
  return output;
}
