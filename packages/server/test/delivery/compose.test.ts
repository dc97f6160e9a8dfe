import { expect, test } from "bun:test";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { readConfig, unknownVariables } from "../../src/config/config.ts";

const root = resolve(import.meta.dir, "../../../..");
const passwords: Record<string, string> = { POSTGRES_PASSWORD: "of-postgres", VALKEY_PASSWORD: "of-valkey" };

interface Service {
  image?: string;
  depends_on?: Record<string, { condition: string }>;
  environment?: Record<string, string>;
  volumes?: string[];
  healthcheck?: { test: string[] };
  read_only?: boolean;
  tmpfs?: string[];
}
interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

const text = await Bun.file(join(root, "compose.yaml")).text();

/** Expands variables as Compose does: `${NAME:?why}` must be set, `${NAME:-value}` has a default. */
function substitute(variables: Record<string, string>): Compose {
  return parse(text, (_, value: unknown) => {
    if (typeof value !== "string") return value;
    const filled = value.replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, kind, rest: string) => {
      const given = variables[name] ?? (kind === "-" ? rest : undefined);
      if (given === undefined) throw new Error(`${name}: ${rest}`);
      return given;
    });
    expect(filled).not.toContain("$");
    return filled;
  }) as Compose;
}

const { services, volumes } = substitute(passwords);

test("compose.yaml does not start without its passwords", () => {
  for (const [name, password] of Object.entries(passwords))
    expect(() => substitute({ [name]: password })).toThrow("set it in .env");
});

test("its server has a configuration that it accepts, for the services beside it", () => {
  const environment = services.presage?.environment ?? {};
  expect(unknownVariables(environment)).toEqual([]);
  const config = readConfig(environment);
  expect(new URL(config.databaseUrl).hostname).toBe("postgres");
  expect(new URL(config.databaseUrl).password).toBe(services.postgres?.environment?.POSTGRES_PASSWORD ?? "");
  expect(new URL(environment.PRESAGE_REDIS_URL ?? "").hostname).toBe("valkey");
  expect(services.presage).toMatchObject({ read_only: true, tmpfs: ["/tmp"] });
});

test("what a service waits for has a health check, and the volumes that are mounted are declared", () => {
  for (const { depends_on = {} } of Object.values(services))
    for (const [name, { condition }] of Object.entries(depends_on))
      expect([name, condition, services[name]?.healthcheck?.test[0]]).toEqual([
        name,
        "service_healthy",
        "CMD",
      ]);
  const mounted = Object.values(services).flatMap((service) => service.volumes ?? []);
  expect(mounted.map((mount) => mount.split(":")[0])).toEqual(Object.keys(volumes));
});

test("the image's own variables are ones that the server knows", async () => {
  const dockerfile = await Bun.file(join(root, "Dockerfile")).text();
  const [, variables = ""] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? [];
  const assignments = variables.split(/[\s\\]+/).map((assignment) => assignment.split("=", 2));
  const environment = Object.fromEntries(assignments) as Record<string, string>;
  expect(unknownVariables(environment)).toEqual([]);
  expect(readConfig(environment).databaseUrl).toBe("sqlite:/data/presage.db");
});
