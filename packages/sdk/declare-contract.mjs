// Writes out the types that zod infers, as the compiler sees them, with the comments from the schemas.
import * as contract from "@presage/contract";
import { API, NodeBuilderFlags, SymbolFlags } from "typescript/unstable/async";

const schemas = new Map(Object.entries(contract));
const flags = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias;

/** Self-contained declarations of the contract's types with these names. */
export async function declareContract(project, names) {
  const api = new API();
  try {
    const snapshot = await api.updateSnapshot({ openProject: project });
    const { program, checker } = snapshot.getProjects()[0];
    const index = (await program.getSourceFileNames()).find((name) =>
      name.endsWith("/contract/src/index.ts"),
    );
    const module = await checker.getSymbolAtLocation(await program.getSourceFile(index));
    const symbols = new Map(
      (await checker.getExportsOfModule(module)).map((symbol) => [symbol.name, symbol]),
    );
    const types = await Promise.all(names.map((name) => readType(checker, name, symbols.get(name))));
    return types.map((type) => declare(type, types)).join("\n");
  } finally {
    await api.close();
  }
}

async function readType(checker, name, symbol) {
  if (symbol === undefined) throw new Error(`The contract has no type ${name}.`);
  const type = await checker.getDeclaredTypeOfSymbol(symbol);
  const text = await checker.typeToString(type, undefined, flags);
  const comment = await checker.getDocumentationCommentOfSymbol(symbol);
  const fields = type.isObjectType() && text.startsWith("{") ? await readFields(checker, type) : undefined;
  return { name, text, comment, fields, shape: schemas.get(name)?.shape ?? {} };
}

async function readFields(checker, type) {
  const properties = await checker.getPropertiesOfType(type);
  const fields = await Promise.all(
    properties.map(async (property) => ({
      name: property.name,
      mark: (property.flags & SymbolFlags.Optional) === 0 ? "" : "?",
      text: await checker.typeToString(await checker.getTypeOfSymbol(property), undefined, flags),
    })),
  );
  const indexes = await checker.getIndexInfosOfType(type);
  return indexes.length === 0 ? fields : [{ name: "[name: string]", mark: "", text: "unknown" }, ...fields];
}

function declare({ name, text, comment, fields, shape }, types) {
  const head = comment === "" ? "" : `/** ${comment.replaceAll("\n", "\n * ")} */\n`;
  const others = types.filter((type) => type.name !== name);
  if (fields === undefined) return `${head}export type ${name} = ${withNames(text, others)};\n`;
  const lines = fields.map(
    (field) =>
      `${commentOf(shape[field.name])}  ${field.name}${field.mark}: ${withNames(field.text, others)};\n`,
  );
  return `${head}export type ${name} = {\n${lines.join("")}};\n`;
}

/** Replaces structures by their names where they have one; the text between two braces is the whole structure. */
function withNames(text, types) {
  const structures = types.filter(({ fields }) => fields !== undefined);
  const longestFirst = structures.toSorted((a, b) => b.text.length - a.text.length);
  return longestFirst.reduce((rest, type) => rest.replaceAll(type.text, type.name), text);
}

function commentOf(schema) {
  const { description, deprecated, default: fallback } = metaOf(schema);
  const parts = [
    ...(deprecated === true ? ["@deprecated"] : []),
    ...(description === undefined ? [] : [description]),
    ...(fallback === undefined ? [] : [`Default: ${JSON.stringify(fallback)}.`]),
  ];
  return parts.length === 0 ? "" : `  /** ${parts.join(" ").replaceAll("*/", "*\\/")} */\n`;
}

/** The metadata of a field, also if it was added before the field was made optional. */
function metaOf(schema) {
  return schema?.meta() ?? (schema?.unwrap === undefined ? {} : metaOf(schema.unwrap()));
}
