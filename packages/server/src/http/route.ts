import type { Need } from "@presage/contract";
import type { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi";
import type { Changer } from "../platform/audit.ts";
import { reserveBytes } from "../platform/limits/memory.ts";
import type { Once } from "../platform/storage/once.ts";
import { type Call, type CallForPage, type CallWithCaller, requesterOf } from "./call.ts";
import type { HttpServices } from "./exchange.ts";
import { readBody, readExactBody, readOnce, readPath, readQuery } from "./request.ts";
import { jsonResponse, logBrokenResponse } from "./response.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Handle<HandledCall> = (call: HandledCall) => Response | Promise<Response>;

interface OpenRoute {
  access: "open";
  /** Whether its responses, errors included, are pages for people. */
  isPage: boolean;
  /** Whether it is a page, or a file that pages load; logged at debug. */
  isOfDashboard: boolean;
  /** Whether its address is a secret: its responses must not be cached or indexed, nor the address be sent as a referrer. */
  isSecret?: boolean;
  handle: Handle<Call>;
}

/**
 * Who may call: `caller` needs a key, or a session and, if it changes something, the CSRF token of its page. `key` ignores cookies.
 * `program` is for protocols whose programs may be unable to send a header: the key may also be a URL's password, and neither
 * sessions nor requests of web pages are let in.
 */
type Access = "caller" | "key" | "program";

interface CallerRoute {
  access: Access;
  /** What the caller must be allowed to do, by role and scopes. */
  needs: Need;
  handle: Handle<CallWithCaller>;
}

interface PageRoute {
  access: "page";
  handle: Handle<CallForPage>;
}

/** A method and a path (parameters as `:name`), who may call it, and its handler. */
export type Route = { method: Method; path: string } & (OpenRoute | CallerRoute | PageRoute);

export function open(method: Method, path: string, handle: OpenRoute["handle"]): Route {
  return { method, path, access: "open", isPage: false, isOfDashboard: false, handle };
}

/** A file that pages load, without authentication. */
export function openFile(path: string, handle: OpenRoute["handle"]): Route {
  return { method: "GET", path, access: "open", isPage: false, isOfDashboard: true, handle };
}

/** A page without authentication. */
export function openPage(path: string, handle: OpenRoute["handle"]): Route {
  return { method: "GET", path, access: "open", isPage: true, isOfDashboard: true, handle };
}

/** A page for everyone who has its address. Logs, metrics and traces contain only its path as declared. */
export function openSecretPage(path: string, handle: OpenRoute["handle"]): Route {
  return { method: "GET", path, access: "open", isPage: true, isOfDashboard: false, isSecret: true, handle };
}

/** An address that redirects a browser, without authentication. Its errors are pages. */
export function openRedirect(path: string, handle: OpenRoute["handle"]): Route {
  return { method: "GET", path, access: "open", isPage: true, isOfDashboard: false, handle };
}

/** A page that needs a session of any role; a browser without one is redirected to sign in. Its data comes from other routes. */
export function page(path: string, handle: PageRoute["handle"]): Route {
  return { method: "GET", path, access: "page", handle };
}

type Responses = Readonly<Record<string, ZodOpenApiResponseObject>>;

/** The type that a schema of the declaration reads; undefined if the declaration has none. */
type Read<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;

/** A response before it is written: JSON, unless the body is undefined. */
export interface Reply<Status, Body> {
  status: Status;
  body: Body;
  headers?: Readonly<Record<string, string>> | undefined;
}

type BodyOf<Described> = Described extends { content: { "application/json": { schema: infer Schema } } }
  ? Read<Schema>
  : undefined;

/** The replies that a declaration's responses allow. */
type RepliesOf<Of extends Responses> = {
  [Status in keyof Of]: Status extends `${infer Code extends number}`
    ? Reply<Code, BodyOf<Of[Status]>>
    : never;
}[keyof Of];

/** The checked parts of a request, as its handler is given them. */
export interface Input<Params, Query, Body> {
  call: CallWithCaller;
  requester: Changer;
  params: Read<Params>;
  query: Read<Query>;
  body: Read<Body>;
  /** Reserves memory for as long as the request is handled; throws beyond what one request may have. */
  reserve(bytes: number): void;
  /** Present if the declaration has `once` and the client sent an `Idempotency-Key`. */
  once: Once | undefined;
}

/** An operation of the API: what is served and what `/openapi.json` says about it. */
export interface Declaration<Services, Params, Query, Body, Of extends Responses> {
  /** The path in the document, if it is written differently from the router's. */
  describedPath?: string;
  /** Absent: `caller`. */
  access?: Access;
  needs: Need;
  id: string;
  summary: string;
  /** What the operation does, in one to four sentences. */
  description: string;
  params?: Params;
  query?: Query;
  /** Whether unknown parameters of the query are ignored rather than refused. */
  allowsUnknown?: boolean;
  body?: Body;
  /** Whether fields that the body's schema does not name are refused unless they are null. */
  refusesUnknown?: boolean;
  /** An example that can be sent as it is. */
  bodyExample?: unknown;
  bodyIsOptional?: boolean;
  /** `long`: the body has a prediction's texts or samples. */
  bodyLimit?: "short" | "long";
  /** Whether numbers that a double cannot represent keep their digits, as in bodies that are forwarded or stored. */
  isExact?: boolean;
  /** Names the operation for requests with an `Idempotency-Key`, which take effect once however often they are repeated. */
  once?: string;
  /** Whether its requests may use old names. */
  hasOldNames?: boolean;
  /** Excludes the failures that all operations with a key or session have in common, unless one needs its own description. */
  responses: Of;
  /** Whether `responses` has all of its failures. */
  hasOwnFailures?: boolean;
  /** Whether the document leaves it out. */
  hidden?: true;
  /** Other parts of the document, such as a body that the handler reads by itself. */
  more?: Partial<ZodOpenApiOperationObject>;
  handle(
    services: Services,
    input: Input<Params, Query, Body>,
  ): Response | RepliesOf<Of> | Promise<Response | RepliesOf<Of>>;
}

/** The services for reading a request and writing its response. */
type RouteServices = Pick<HttpServices, "settings" | "log">;

/** A declared operation. It gets its services when the server is put together; the document needs none. */
export interface Operation<Services> {
  declaration: Described;
  bind: (services: Services & RouteServices) => Route;
}

/** An operation with the section of the document that it is in. */
export type TaggedOperation<Services> = Operation<Services> & { tag: string };

/** An operation without its handler: what the document is made of. */
export interface Described
  extends Omit<
    Declaration<never, z.ZodObject | undefined, z.ZodObject | undefined, z.ZodType | undefined, Responses>,
    "handle"
  > {
  method: Method;
  path: string;
}

/** Declares an operation by its method, its path (parameters as `:name`) and what it does. A reply whose status or body is not among `responses` does not compile. */
export function route<
  Services,
  const Of extends Responses,
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  method: Method,
  path: string,
  declaration: Declaration<Services, Params, Query, Body, Of>,
): Operation<Services> {
  const { access = "caller", needs } = declaration;
  const described = { method, path, ...declaration } as Described;
  return {
    declaration: described,
    bind: (services) => ({
      method,
      path,
      access,
      needs,
      // No async functions: thousands of predictions wait here at the same time, and each would hold another frame.
      handle(call) {
        const run = (input: unknown) => declaration.handle(services, input as Input<Params, Query, Body>);
        const finish = (answer: Response | Reply<number, unknown>) =>
          answer instanceof Response ? answer : toResponse(services, call, answer);
        const input = readInput(services, call, described);
        const answer = input instanceof Promise ? input.then(run) : run(input);
        return answer instanceof Promise ? answer.then(finish) : finish(answer);
      },
    }),
  };
}

/** An operation of a protocol that is described elsewhere, so the document leaves it out. Its handler reads the request by itself. */
export function hiddenRoute<Services>(
  at: Pick<CallerRoute & Described, "method" | "path" | "access" | "needs">,
  handle: (services: Services & RouteServices, call: CallWithCaller) => Response | Promise<Response>,
): Operation<Services> {
  const untold = { id: "", summary: "", description: "", responses: {} };
  return {
    declaration: { ...at, ...untold, hidden: true },
    bind: (services) => ({ ...at, handle: (call: CallWithCaller) => handle(services, call) }),
  };
}

/** A reply with this status; its type keeps the status, so that the compiler can look it up in the declaration. */
export function reply<const Status extends number, Body>(
  status: Status,
  body: Body,
  headers?: Readonly<Record<string, string>>,
): Reply<Status, Body> {
  return { status, body, headers };
}

/** The parts of a request that a declaration reads; a promise if there is a body to wait for. */
function readInput(services: RouteServices, call: CallWithCaller, declaration: Described) {
  if (declaration.body !== undefined) return readWithBody(services, call, declaration, declaration.body);
  return new ReadInput(call, declaration, readAddress(call, declaration), undefined);
}

async function readWithBody(
  { settings }: RouteServices,
  call: CallWithCaller,
  declaration: Described,
  schema: z.ZodType,
) {
  const limit = declaration.bodyLimit === "long" ? settings.maxBodyBytes : settings.maxShortBodyBytes;
  const read = () =>
    declaration.isExact
      ? readExactBody(call, schema, limit)
      : readBody(call, schema, limit, declaration.refusesUnknown);
  // The body is read first, so that old names are noted even if the path is refused.
  if (declaration.hasOldNames) {
    const body = await read();
    return new ReadInput(call, declaration, readAddress(call, declaration), body);
  }
  const address = readAddress(call, declaration);
  return new ReadInput(call, declaration, address, await read());
}

type Address = Record<"params" | "query", unknown>;

function readAddress(call: CallWithCaller, { params, query, allowsUnknown }: Described): Address {
  return {
    params: params && readPath(call, params),
    query: query && readQuery(call, query, !allowsUnknown),
  };
}

/** A class with getters, so that parts that few handlers use are made only for them. */
class ReadInput {
  readonly call: CallWithCaller;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly once: Once | undefined;

  constructor(call: CallWithCaller, { once }: Described, { params, query }: Address, body: unknown) {
    this.call = call;
    this.params = params;
    this.query = query;
    this.body = body;
    this.once = once === undefined ? undefined : readOnce(call, once, body);
  }

  get requester(): Changer {
    return requesterOf(this.call);
  }

  get reserve(): (bytes: number) => void {
    return (bytes) => reserveBytes(this.call.exchange, bytes);
  }
}

function toResponse(
  services: RouteServices,
  call: CallWithCaller,
  { status, body, headers }: Reply<number, unknown>,
): Response {
  const init = headers === undefined ? { status } : { status, headers };
  if (body === undefined) return new Response(null, init);
  return jsonResponse(body, init, logBrokenResponse(services, call));
}
