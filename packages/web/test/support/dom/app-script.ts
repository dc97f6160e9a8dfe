import { bundleApp } from "./bundle-app.ts";

/** A script that receives the browser's globals as parameters, so that each page can have its own window. */
type Script = (...ofWindow: unknown[]) => void;

let app: Promise<Script> | undefined;

/** The dashboard as bundled by `npm test`, otherwise bundled once for all pages of this process. */
export async function appScript(names: readonly string[]): Promise<Script> {
  app ??= readApp().then((text) => asFunction(names, text));
  return await app;
}

/** Compiles a script whose globals are its parameters. */
export function asFunction(names: readonly string[], script: string): Script {
  return new Function(...names, script) as Script;
}

async function readApp(): Promise<string> {
  const bundled = process.env.PRESAGE_TEST_APP;
  return bundled === undefined ? await bundleApp() : await Bun.file(bundled).text();
}
