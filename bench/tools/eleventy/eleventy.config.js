import highlight from "@11ty/eleventy-plugin-syntaxhighlight";

export default function (config) {
  config.addPlugin(highlight);
  config.setInputDirectory("content");
  config.setIncludesDirectory("../_includes");
  config.setOutputDirectory("public");
  config.addCollection("groups", (all) => [...new Set(all.getAll().flatMap((item) => item.data.tags ?? []))].sort());
  return { markdownTemplateEngine: false };
}
