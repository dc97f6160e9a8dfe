import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

/** An item of a menu that downloads a file. */
export function MenuDownload({
  href,
  icon,
  children,
}: {
  href: string;
  icon?: ReactNode;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Item asChild>
      <a
        href={href}
        download
        className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-sm text-ink outline-none data-highlighted:bg-hover [&_svg]:size-4"
      >
        {icon}
        {children}
      </a>
    </DropdownMenu.Item>
  );
}
