import {
  defaultPageLimit,
  Project,
  ProjectCreateRequest,
  ProjectListQuery,
  ProjectListResponse,
  ProjectPath,
  ProjectResponse,
} from "@presage/contract";
import { noSuch, response } from "../http/describe.ts";
import { readPage } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { notFound } from "../platform/errors.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import examples from "./examples.json" with { type: "json" };
import {
  insertProject,
  type NewProject,
  type ProjectRow,
  selectProject,
  selectProjects,
  selectProjectsByNames,
} from "./projects-store.ts";

const path = "/v1/projects";

const listProjects = route("GET", path, {
  needs: "read",
  id: "listProjects",
  summary: "List the account's projects",
  description: "Returns the account's projects, newest first.",
  query: ProjectListQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The projects, newest first", ProjectListResponse, { projects: [examples.project] }),
  },
  async handle({ store }: { store: Store }, { requester, query }) {
    const page = readPage(query, defaultPageLimit);
    const found = await selectProjects(store.briefReader(requester), requester.accountId, page);
    return reply(200, { projects: found.map(toProject) });
  },
});

const create = route("POST", path, {
  needs: "evaluate",
  id: "createProject",
  summary: "Create a project, or get the one of this name",
  description:
    "Creates a project. If the account already has a project of this name, that one is returned, so that a client can send the same request before every experiment.",
  body: ProjectCreateRequest,
  bodyExample: { name: examples.project.name },
  once: "create project",
  responses: {
    "200": response("The project that already had this name", Project, examples.project),
    "201": response("The new project", Project, examples.project),
  },
  async handle(services: { store: Store }, { call, requester, body: { name }, once }) {
    const newProject = { name, userId: call.caller.userId };
    const { project, isNew } = await createProject(services, requester, newProject, once);
    // The clients that create projects read this response without a wrapper.
    return isNew ? reply(201, toProject(project)) : reply(200, toProject(project));
  },
});

const getProject = route("GET", `${path}/:id`, {
  needs: "read",
  id: "getProject",
  summary: "Show a project",
  description: "Returns one project of the account.",
  params: ProjectPath,
  responses: {
    "200": response("The project", ProjectResponse, { project: examples.project }),
    ...noSuch("project"),
  },
  async handle({ store }: { store: Store }, { requester, params: { id } }) {
    const project = await selectProject(store.briefReader(requester), requester.accountId, id);
    if (project === undefined) throw notFound("project");
    return reply(200, { project: toProject(project) });
  },
});

export const projectRoutes = [listProjects, create, getProject];

export interface CreatedProject {
  project: ProjectRow;
  /** False if the account already had a project of this name. */
  isNew: boolean;
}

/** The account's project with a name, created if it does not exist: clients create their project before every experiment. */
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
      const isNew = await insertProject(transaction, { ...project, account_id: accountId });
      if (isNew) await recordChange(transaction, requester, "project.create", project.id, { name });
      return { project: isNew ? project : await existing(transaction, accountId, name), isNew };
    },
    toReceipt: ({ project, isNew }) => ({ id: project.id, isNew }),
    async recall({ id, isNew }) {
      const project = await selectProject(store.database, accountId, id);
      if (project === undefined) throw notFound("project");
      return { project, isNew };
    },
  });
}

async function existing(transaction: Database, accountId: string, name: string): Promise<ProjectRow> {
  const [project] = await selectProjectsByNames(transaction, accountId, [name]);
  if (project === undefined) throw new Error("A project's name is taken, and no project has it");
  return project;
}

function toProject({ created_at, ...project }: ProjectRow): Project {
  return { ...project, created_at: toIsoInstant(created_at) };
}
