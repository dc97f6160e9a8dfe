import { pythonEnvironment } from "./python-environment.ts";

/** The packages that OpenEnv's client imports; its other dependencies, most of them for a user interface, take 300 MB more. */
const imported = [
  "fastapi==0.165.0",
  "fastmcp-slim[client,server]==3.4.10",
  "httpx==0.28.1",
  "requests==2.34.2",
];

/** The Python of a virtual environment with OpenEnv's client. */
export function openEnvPython(): Promise<string | undefined> {
  return pythonEnvironment([...imported, "websockets==15.0.1"], ["openenv==0.10.0"]);
}
