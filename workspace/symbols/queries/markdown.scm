; Headings. Code in fences shows how names are used; what a project defines is in its source files.

(section
  . (atx_heading
      heading_content: (inline) @name)
  . (_)? @body) @definition.module

(setext_heading
  heading_content: (paragraph) @name
  [(setext_h1_underline) (setext_h2_underline)] @body) @definition.module
