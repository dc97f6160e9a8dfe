import type { TestPresage } from "./presage/presage.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Every route that is served, as method and path, found out by asking, and how it answers who has neither key nor session. */
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

/** Every route of the document, and whether it is for anybody. */
export async function readDocumentedRoutes({
  url,
}: Pick<TestPresage, "url">): Promise<Map<string, { isOpen: boolean }>> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security?: unknown[] }>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { security }]): [string, { isOpen: boolean }] => [
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
        { isOpen: security?.length === 0 },
      ]),
    ),
  );
}

/** A path of the route, with ids that nothing has. */
export function fillIn(path: string): string {
  return path.replaceAll(/:\w+/g, () => crypto.randomUUID());
}
