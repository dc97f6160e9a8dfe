import {
  defaultPageLimit,
  Project,
  ProjectCreateRequest,
  ProjectListQuery,
  ProjectListResponse,
  ProjectPath,
  ProjectResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../app/services.ts";
import { requesterOf } from "../http/call.ts";
import { body, idempotencyHeader, noSuch, operation, response } from "../http/describe.ts";
import { readBody, readOnce, readPage, readPath, readQuery } from "../http/request.ts";
import { type Route, withCaller } from "../http/route.ts";
import { type Change, type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import {
  insertProjects,
  type ProjectRow,
  selectProject,
  selectProjectByName,
  selectProjects,
} from "./projects-store.ts";

async function findProject(
  { store }: { store: Store },
  requester: Requester,
  id: string,
): Promise<ProjectRow> {
  const project = await selectProject(store.briefReader(requester), requester.accountId, id);
  if (project === undefined) throw noSuchProject();
  return project;
}

function noSuchProject(): ServiceError {
  return new ServiceError("not_found", "There is no such project.");
}

export interface NewProject {
  name: string;
  userId: string;
}

export interface CreatedProject {
  project: ProjectRow;
  /** False if the account already had a project of this name. */
  isNew: boolean;
}

/** The account's project of a name, created if there is none: clients create their project before every experiment. */
async function createProject(
  { store }: { store: Store },
  requester: Changer,
  { name, userId }: NewProject,
  once?: Once,
): Promise<CreatedProject> {
  const { accountId } = requester;
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const project = { id: Bun.randomUUIDv7(), name, created_by: userId, created_at: nowMicros() };
      const isNew = (await insertProjects(transaction, [{ ...project, account_id: accountId }])) > 0;
      if (isNew) await recordChange(transaction, requester, projectCreated(project));
      return { project: isNew ? project : await existing(transaction, accountId, name), isNew };
    },
    toReceipt: ({ project, isNew }) => ({ id: project.id, isNew }),
    async recall({ id, isNew }) {
      const project = await selectProject(store.database, accountId, id);
      if (project === undefined) throw noSuchProject();
      return { project, isNew };
    },
  });
}

export function projectCreated({ id, name }: Pick<ProjectRow, "id" | "name">): Change {
  return { action: "project.create", objectId: id, detail: { name } };
}

async function existing(transaction: Database, accountId: string, name: string): Promise<ProjectRow> {
  const project = await selectProjectByName(transaction, accountId, name);
  if (project === undefined) throw new Error("A project's name is taken, and no project has it");
  return project;
}

const tag = "experiments";
export const exampleProject: Project = {
  id: "019aa5f2-7d3c-7000-8a55-0d5f3f1c2b11",
  name: "ScienceWorld",
  created_by: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  created_at: "2026-11-22T03:46:48.004Z",
};

export const projectPaths: ZodOpenApiPathsObject = {
  "/v1/projects": {
    get: operation("listProjects", tag, "List the account's projects", {
      description: "Returns the account's projects, newest first.",
      requestParams: { query: ProjectListQuery },
      responses: {
        "200": response("The projects, newest first", ProjectListResponse, { projects: [exampleProject] }),
      },
    }),
    post: operation("createProject", tag, "Create a project, or get the one of this name", {
      description:
        "Creates a project. If the account already has a project of this name, that one is returned, so that a client can send the same request before every experiment.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(ProjectCreateRequest, { name: exampleProject.name }),
      responses: {
        "200": response("The project that already had this name", Project, exampleProject),
        "201": response("The new project", Project, exampleProject),
      },
    }),
  },
  "/v1/projects/{id}": {
    get: operation("getProject", tag, "Show a project", {
      description: "Returns one project of the account.",
      requestParams: { path: ProjectPath },
      responses: {
        "200": response("The project", ProjectResponse, { project: exampleProject }),
        ...noSuch("project"),
      },
    }),
  },
};

const path = "/v1/projects";

export function projectRoutes(services: Services): Route[] {
  return [
    withCaller("GET", path, "read", async (call) => {
      const page = readPage(readQuery(call, ProjectListQuery), defaultPageLimit);
      const requester = requesterOf(call);
      const found = await selectProjects(services.store.briefReader(requester), requester.accountId, page);
      const response: ProjectListResponse = { projects: found.map(toProject) };
      return Response.json(response);
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readBody(call, ProjectCreateRequest, services.settings.maxShortBodyBytes);
      const newProject = { name: body.name, userId: call.caller.userId };
      const once = readOnce(call, "create project", body);
      const { project, isNew } = await createProject(
        services.evaluation,
        requesterOf(call),
        newProject,
        once,
      );
      // The clients that create projects read this response without a wrapper.
      return Response.json(toProject(project), { status: isNew ? 201 : 200 });
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) => {
      const { id } = readPath(call, ProjectPath);
      const project = await findProject(services.evaluation, requesterOf(call), id);
      const response: ProjectResponse = { project: toProject(project) };
      return Response.json(response);
    }),
  ];
}

function toProject({ created_at, ...project }: ProjectRow): Project {
  return { ...project, created_at: toIsoInstant(created_at) };
}
