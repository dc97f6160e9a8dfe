import { join } from "node:path";
import { startSandbox } from "@presage/sandbox";
import { eventually } from "../eventually.ts";
import { freePort } from "../free-port.ts";
import { PYTHONPYCACHEPREFIX, pythonEnvironment } from "../python/python-environment.ts";

/** The servers of the public packages of both protocols. */
export const realPythons = {
  openenv: (...others: string[]) =>
    pythonEnvironment(
      [
        ...["fastapi==0.165.0", "fastmcp-slim[client,server]==3.4.10", "uvicorn==0.54.0"],
        ...["websockets==15.0.1", ...others],
      ],
      ["openenv-core==0.3.0"],
    ),
  ors: () => pythonEnvironment(["ors-sdk==0.1.0"]),
};

export interface RealServer {
  url: string;
  stop(): Promise<void>;
}

interface Refusals {
  /** The first word of the actions that are refused. */
  verb: string;
  probability: number;
  seed: number;
}

/** Starts a server of a public package that plays by the sandbox's rules, but refuses one verb with a known probability. */
export async function startRealServer(
  protocol: keyof typeof realPythons,
  python: string,
  { verb, probability, seed }: Refusals = { verb: "", probability: 0, seed: 0 },
): Promise<RealServer> {
  const sandbox = startSandbox();
  const port = await freePort();
  const child = Bun.spawn([python, join(import.meta.dir, `${protocol}-sandbox.fixture.py`), String(port)], {
    env: {
      PATH: process.env.PATH ?? "",
      PYTHONPYCACHEPREFIX,
      SANDBOX_URL: sandbox.url,
      REFUSED_VERB: verb,
      REFUSAL_PROBABILITY: String(probability),
      SEED: String(seed),
    },
    stdout: "ignore",
    stderr: "inherit",
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok || child.exitCode !== null,
      () => child.exitCode !== null,
    );
  await eventually(isReady, (ready) => ready);
  if (child.exitCode !== null) throw new Error(`The real environment ended with ${child.exitCode}.`);
  return {
    url,
    async stop() {
      child.kill();
      await child.exited;
      await sandbox.stop();
    },
  };
}
