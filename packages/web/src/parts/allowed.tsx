import type { Need } from "@presage/contract/permissions";
import { Link, type LinkProps } from "@tanstack/react-router";
import { ShieldAlert } from "lucide-react";
import { type ComponentProps, type MouseEvent, type ReactNode, use } from "react";
import { useRefusal, useRole } from "../data/accounts.ts";
import { Button, type ButtonProps, buttonClass, IconButton } from "../ui/button.tsx";
import { MenuItem } from "../ui/menu.tsx";
import { EmptyState } from "../ui/notice.tsx";
import { SkeletonRows } from "../ui/skeleton.tsx";
import { ControlTabIndex } from "../ui/tooltip.tsx";

/** A button that explains why it is inactive if the user's role does not allow its purpose. */
export function AllowedButton({ needs, ...button }: ButtonProps & { needs: Need }) {
  return <Button {...button} {...useRefusalProps(needs)} />;
}

interface AllowedLinkProps extends Pick<ButtonProps, "variant" | "size" | "icon" | "children"> {
  needs: Need;
  link: LinkProps;
}

/** A link that looks like a button; inactive, with an explanation, if the user's role does not allow what it leads to. */
export function AllowedLink({ needs, link, icon, children, ...look }: AllowedLinkProps) {
  if (useRefusal(needs) !== undefined)
    return (
      <AllowedButton needs={needs} icon={icon} {...look}>
        {children}
      </AllowedButton>
    );
  return (
    <Link {...link} tabIndex={use(ControlTabIndex)} className={buttonClass(look)}>
      {icon}
      {children}
    </Link>
  );
}

/** An icon button that explains why it is inactive if the user's role does not allow its purpose. */
export function AllowedIconButton({ needs, ...button }: ComponentProps<typeof IconButton> & { needs: Need }) {
  return <IconButton {...button} {...useRefusalProps(needs)} />;
}

/** A menu item that explains why it is inactive if the user's role does not allow its purpose. */
export function AllowedMenuItem({ needs, ...item }: ComponentProps<typeof MenuItem> & { needs: Need }) {
  return <MenuItem {...item} refusal={useRefusal(needs)} />;
}

/** Content that only owners see; other users read why. */
export function OwnersOnly({ children }: { children: ReactNode }) {
  const role = useRole();
  if (role === undefined) return <SkeletonRows count={3} className="h-10" />;
  if (role === "owner") return children;
  return (
    <EmptyState icon={ShieldAlert} title="For owners">
      Your role is {role}. Only owners of your account see this page; one of them can change your role.
    </EmptyState>
  );
}

/** Additional properties of a button whose purpose the user's role does not allow: they explain why it is inactive. */
function useRefusalProps(need: Need) {
  const refusal = useRefusal(need);
  if (refusal === undefined) return {};
  return {
    title: refusal,
    // Not `disabled`: the button can still be reached, so that the reason is read.
    "aria-disabled": true,
    "aria-description": refusal,
    onClick: (event: MouseEvent) => event.preventDefault(),
  };
}
