import { describeConfig, type RawEnvironment, unknownVariables } from "../config.ts";

/** Prints every variable's effective value; those that were set are marked. */
export function showConfig(environment: RawEnvironment): void {
  for (const { name, value, from } of describeConfig(environment)) {
    process.stdout.write(
      `${`${name}=${value}`.padEnd(60)} ${from === "environment" ? "# set" : "# default"}\n`,
    );
  }
  for (const name of unknownVariables(environment))
    process.stderr.write(`${name} is not known and has no effect\n`);
}
