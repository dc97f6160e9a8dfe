import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./bundle-server.ts";

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

const ownPackages = /^(packages|bench)\/|node_modules\/(@presage|bun$|@oven\/)/;
const licenceFile = /^(licen[cs]e|copying|notice)/i;

/** The licences of all packages whose code is in a bundle of the server and the dashboard, as one text. */
export function thirdPartyLicences(): string {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const sections = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && !dev && !link)
    .filter(([path]) => !ownPackages.test(path) && existsSync(join(root, path)))
    .map(([path, locked]) => sectionOf(path, locked));
  return `Presage contains the following packages.\n\n${sections.join("\n")}`;
}

function sectionOf(path: string, { version, license = "see its files" }: Locked): string {
  const folder = join(root, path);
  const texts = readdirSync(folder)
    .filter((name) => licenceFile.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trim());
  const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}
