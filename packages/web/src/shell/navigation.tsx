import { Link, type LinkProps, useLocation } from "@tanstack/react-router";
import {
  Database,
  FlaskConical,
  FlaskRound,
  Gauge,
  Globe,
  type LucideIcon,
  MessagesSquare,
  Orbit,
  Scale,
  Search,
  Settings,
} from "lucide-react";
import { useRole } from "../data/accounts.ts";
import { Keys } from "../ui/shortcuts.tsx";
import { UserMenu } from "./user-menu.tsx";

interface PageLink {
  to: NonNullable<LinkProps["to"]>;
  /** How the page begins when it is chosen here. */
  search?: LinkProps["search"];
  label: string;
  /** The shortcut that opens the page. */
  keys?: string;
  /** Other users see the reason when they open the page. */
  isForOwners?: boolean;
}

interface Section {
  title: string;
  icon: LucideIcon;
  /** The menu leads to the first page; if there are several, links to all of them are shown above each page. */
  links: [PageLink, ...PageLink[]];
  /** A path whose pages also belong to the section. */
  below?: string;
}

export const linkGroups: Section[] = [
  { title: "Overview", icon: Gauge, links: [{ to: "/", label: "Overview", keys: "g o" }] },
  {
    title: "Playground",
    icon: FlaskConical,
    links: [{ to: "/playground", label: "Playground", keys: "g p" }],
  },
  { title: "Worlds", icon: Orbit, links: [{ to: "/worlds", label: "Worlds", keys: "g s" }] },
  {
    title: "Runs",
    icon: FlaskRound,
    links: [
      { to: "/runs", label: "Runs", keys: "g r" },
      { to: "/compare", label: "Compare", keys: "g c" },
    ],
  },
  { title: "Datasets", icon: Database, links: [{ to: "/datasets", label: "Datasets", keys: "g d" }] },
  {
    title: "Environments",
    icon: Globe,
    links: [{ to: "/environments", label: "Environments", keys: "g n" }],
    below: "/episodes",
  },
  {
    title: "Log",
    icon: MessagesSquare,
    links: [
      { to: "/predictions", label: "Predictions", keys: "g l" },
      { to: "/evaluations", search: { view: "samples" }, label: "Evaluations", keys: "g e" },
    ],
  },
  {
    title: "Evaluators",
    icon: Scale,
    links: [
      { to: "/evaluators", label: "Evaluators", keys: "g v" },
      { to: "/error-taxonomies", label: "Error taxonomies", keys: "g t" },
      { to: "/review", label: "Review", keys: "g w" },
    ],
  },
  {
    title: "Settings",
    icon: Settings,
    links: [
      { to: "/api-keys", label: "API keys", keys: "g k" },
      { to: "/usage", label: "People & spend", keys: "g u" },
      { to: "/account/members", label: "Members", isForOwners: true },
      { to: "/deployments", label: "Deployments", keys: "g m" },
      { to: "/account/audit-log", label: "Audit log", isForOwners: true },
      { to: "/account", label: "Account" },
    ],
  },
];

interface NavigationProps {
  onNavigate?: () => void;
  onSearch(): void;
}

export function Navigation({ onNavigate, onSearch }: NavigationProps) {
  const current = useSection();
  return (
    <div className="flex h-full flex-col gap-4 p-3 rail:px-1.5">
      <div className="px-2 pt-1 rail:mx-auto rail:w-6 rail:overflow-hidden rail:px-0">
        <Mark />
      </div>
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 shrink-0 items-center gap-2 rounded-md border border-line-strong px-2 text-sm text-ink-3 hover:bg-hover hover:text-ink rail:justify-center"
      >
        <Search className="size-4 shrink-0" aria-hidden />
        <span className="flex-1 text-left rail:sr-only">Go to …</span>
        <span className="max-md:hidden rail:hidden">
          <Keys keys="mod+k" />
        </span>
      </button>
      <nav aria-label="Pages" className="min-h-0 flex-1 overflow-y-auto">
        <ul className="flex flex-col gap-0.5">
          {linkGroups.map((section) => (
            <li key={section.title}>
              <Link
                to={section.links[0].to}
                aria-current={section === current ? "page" : undefined}
                {...(onNavigate && { onClick: onNavigate })}
                className="flex items-center gap-2 rounded-md px-2 py-1.5 text-sm font-medium text-ink-2 -outline-offset-2 transition-colors rail:flex-col rail:gap-0.5 rail:px-0 rail:text-[0.6875rem] hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent-ink"
              >
                <section.icon className="size-4 shrink-0" aria-hidden />
                {section.title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="border-t border-line pt-3">
        <UserMenu />
      </div>
    </div>
  );
}

/** Links to the pages of the current section, shown above each of these pages. */
export function SectionPages() {
  const role = useRole();
  const { pathname } = useLocation();
  const section = useSection();
  const links = section?.links.filter(({ isForOwners }) => !isForOwners || role === "owner") ?? [];
  if (links.length < 2 || section?.links.every(({ to }) => to !== pathname)) return null;
  return (
    <nav
      aria-label={section?.title}
      className="flex shrink-0 scroll-px-4 gap-x-5 overflow-x-auto border-b border-line bg-surface px-4 pt-1 md:px-6 print:hidden"
    >
      {links.map(({ to, search, label }) => (
        <Link
          key={to}
          to={to}
          {...(search !== undefined && { search })}
          activeOptions={{ exact: true, includeSearch: false }}
          className="current-in-sight -mb-px shrink-0 border-b-2 border-transparent py-2.5 text-sm font-semibold whitespace-nowrap text-ink-2 -outline-offset-2 hover:text-ink data-[status=active]:border-accent data-[status=active]:text-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

function useSection(): Section | undefined {
  const { pathname } = useLocation();
  const isBelow = (path: string) => pathname === path || (path !== "/" && pathname.startsWith(`${path}/`));
  return linkGroups.find(({ links, below }) =>
    [...links.map(({ to }) => to), below ?? []].flat().some(isBelow),
  );
}

/** The logo and name. */
export function Mark() {
  return (
    <span className="inline-flex items-center gap-2 text-sm font-semibold tracking-tight">
      <svg viewBox="0 0 32 32" className="size-6" aria-hidden>
        <rect width="32" height="32" rx="8" fill="#4f46e5" />
        <path
          d="M11 24V8h6.2a5.4 5.4 0 0 1 0 10.8H11"
          fill="none"
          stroke="white"
          strokeWidth="3.2"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      Presage
    </span>
  );
}
