import type { TestPresage } from "./presage.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Every served route as method and path, found by calling it, and its status without a key or a session. */
export async function askEveryRoute({ url, paths }: TestPresage): Promise<Map<string, number>> {
  const routes = paths.flatMap((path) => methods.map((method) => ({ method, path })));
  const answers = await Promise.all(
    routes.map(async ({ method, path }): Promise<[string, number]> => {
      const { status } = await fetch(url + fillIn(path), { method, redirect: "manual" });
      return [`${method} ${path}`, status];
    }),
  );
  return new Map(answers.filter(([, status]) => status !== 405));
}

/** A path of the route, with unknown ids. */
export function fillIn(path: string): string {
  return path.replaceAll(/:\w+|\*/g, () => crypto.randomUUID());
}
