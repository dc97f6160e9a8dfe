import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Document, Operation } from "./read-document.ts";
import type { Schema } from "./schema.ts";

/** Says what is wrong with a JSON value, in a way that is the same for the same fault; undefined if nothing is. */
export type FindFault = (value: unknown) => string | undefined;

export interface AnswerSchemas {
  /** Of an answer with this status; undefined where the document describes no JSON. */
  of(operation: Operation, status: number): FindFault | undefined;
  /** Of a component, by its name. */
  named(name: string): FindFault;
}

const documentId = "presage";

/** Compiles the schemas of all answers. */
export function compileAnswers({ schemas }: Document): AnswerSchemas {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: documentId, components: { schemas } });
  const faultIn =
    (validate: ValidateFunction): FindFault =>
    (value) => {
      if (validate(value)) return undefined;
      const [fault] = validate.errors ?? [];
      // Without the numbers of items, which differ from answer to answer.
      const place = (fault?.instancePath ?? "").replace(/\/\d+(?=\/|$)/g, "/*");
      return `${place || "/"} ${fault?.message} (${fault?.schemaPath.split("/components/").at(-1)})`;
    };
  const compiled = new Map<string, FindFault>();
  // All of them take a second; a short run meets a few.
  function compileOnce(name: string, schema: Schema): FindFault {
    const found = compiled.get(name) ?? faultIn(ajv.compile(withAbsoluteReferences(schema)));
    compiled.set(name, found);
    return found;
  }
  return {
    of({ id, answers }, status) {
      const schema = answers[String(status)]?.content?.["application/json"]?.schema;
      return schema === undefined ? undefined : compileOnce(`${id} ${status}`, schema);
    },
    named: (name) => compileOnce(name, referenceTo(name)),
  };
}

function referenceTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** References in the document are relative to its root, of which a schema that is compiled alone knows nothing. */
function withAbsoluteReferences(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${documentId}#/`);
  return JSON.parse(text);
}
