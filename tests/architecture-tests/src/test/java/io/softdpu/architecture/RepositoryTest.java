package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.text.Text;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Rules about the files of the repository. */
class RepositoryTest {

    private static final Path DECISION_INDEX = Path.of("docs/adr/README.md");

    private final List<Path> files = RepositoryFiles.all();

    @Test
    void shouldSeeTheRepository() {
        assertThat(files)
                .contains(Path.of("pom.xml"), Path.of("docs/clauses.tsv"))
                .anyMatch(file -> file.toString().contains("io/softdpu/storage/server/"));
    }

    @Test
    void shouldNameNoPackageRegistry() {
        // A build takes its packages from wherever Maven's own settings say. The only addresses
        // that build files need are the names of XML name spaces.
        Pattern address =
                Pattern.compile("https?://(?!maven\\.apache\\.org/(POM|xsd)/|www\\.w3\\.org/)\\S*");
        assertNowhere(isBuildFile(), address);
        assertNowhere(
                isBuildFile(),
                Pattern.compile(
                        "<(repositories|pluginRepositories|distributionManagement|mirrors)>"));
    }

    @Test
    void shouldUseTheMavenOfTheMachine() {
        assertThat(files)
                .noneMatch(file -> file.getFileName().toString().startsWith("mvnw"))
                .noneMatch(file -> file.startsWith(".mvn/wrapper"));
    }

    /** Modules are built two at a time, and this one reads the results of all others. */
    @Test
    void shouldBuildThisModuleAfterAllOthers() {
        Pattern artifact = Pattern.compile("<artifactId>([^<]+)</artifactId>");
        Set<String> before = new HashSet<>();
        Deque<String> next = new ArrayDeque<>(List.of("architecture-tests"));
        while (!next.isEmpty()) {
            Path pom = ProjectModules.folder(next.remove()).resolve("pom.xml");
            artifact.matcher(ProjectModules.read(pom))
                    .results()
                    .map(result -> result.group(1))
                    .filter(name -> name.startsWith("softdpu-"))
                    .map(name -> name.substring("softdpu-".length()))
                    .filter(ProjectModules.modules()::contains)
                    .filter(before::add)
                    .forEach(next::add);
        }
        assertThat(before).containsAll(ProjectModules.modules());
    }

    @Test
    void shouldNameArtefactsByTheirFolders() {
        Pattern own = Pattern.compile("\n    <artifactId>([^<]+)</artifactId>");
        for (String module : ProjectModules.modules()) {
            String pom = ProjectModules.read(ProjectModules.folder(module).resolve("pom.xml"));
            assertThat(own.matcher(pom).results().map(result -> result.group(1)))
                    .as(module)
                    .containsExactly("softdpu-" + module);
        }
    }

    /** Modules for tests are no part of a release. */
    @Test
    void shouldInstallLibrariesAndApplicationsAlone() {
        for (String module : ProjectModules.modules()) {
            String pom = ProjectModules.read(ProjectModules.folder(module).resolve("pom.xml"));
            boolean forTests = ProjectModules.group("tests").contains(module);
            assertThat(pom.contains("<maven.install.skip>true</maven.install.skip>"))
                    .as("%s is not installed", module)
                    .isEqualTo(forTests);
            assertThat(pom.contains("<maven.deploy.skip>true</maven.deploy.skip>"))
                    .as("%s is not deployed", module)
                    .isEqualTo(forTests);
        }
    }

    @Test
    void shouldNameAllThatIsInstalledInTheBom() {
        String bom = ProjectModules.read(ProjectModules.ROOT.resolve("libraries/bom/pom.xml"));
        List<String> named =
                Pattern.compile("\n                <artifactId>softdpu-([^<]+)</artifactId>")
                        .matcher(bom)
                        .results()
                        .map(result -> result.group(1))
                        .toList();
        List<String> installed = new ArrayList<>(ProjectModules.group("libraries"));
        installed.addAll(ProjectModules.group("applications"));
        assertThat(named).isEqualTo(installed);
    }

    @Test
    void shouldFinishWhatItStarts() {
        assertNowhere(isJava(), Pattern.compile("\\b(TO(?=DO)|FIX(?=ME)|XX(?=X)|HA(?=CK))"));
    }

    @Test
    void shouldWaitForEventsInTestsToo() {
        // A program that a test starts may sleep without end, if the test needs a sleeping process.
        assertNowhere(isJava(), Pattern.compile("Thread\\.sleep\\((?!Long\\.MAX_VALUE)"));
    }

    @Test
    void shouldShowEachPromiseAndRuleByTestsThatThereAre() {
        List<String> promises =
                RepositoryFiles.read(Path.of("docs/promises.md"))
                        .lines()
                        .filter(line -> line.startsWith("| "))
                        .filter(line -> !line.startsWith("| to |") && !line.startsWith("| rule |"))
                        .toList();
        assertThat(promises).hasSizeGreaterThan(10);
        for (String promise : promises) {
            String shownBy = promise.substring(promise.lastIndexOf('|', promise.length() - 2));
            List<String> names =
                    Pattern.compile("`(\\w+)`")
                            .matcher(shownBy)
                            .results()
                            .map(name -> name.group(1) + ".java")
                            .toList();
            assertThat(names).as(promise).isNotEmpty();
            for (String name : names) {
                assertThat(files).as(promise).anyMatch(file -> file.endsWith(name));
            }
        }
    }

    @Test
    void shouldHaveTheTargetsOfItsLinks() {
        Pattern link = Pattern.compile("\\]\\(([^)#:]*)(?:#([^)]*))?\\)");
        List<String> broken = new ArrayList<>();
        for (Path page : files) {
            if (page.toString().endsWith(".md")) {
                link.matcher(RepositoryFiles.read(page))
                        .results()
                        .filter(found -> !hasTarget(page, found.group(1), found.group(2)))
                        .forEach(found -> broken.add(page + ": " + found.group()));
            }
        }
        assertThat(broken).isEmpty();
    }

    @Test
    void shouldKnowTheHeadingsThatLinksNameAsGitHubDoes() {
        assertThat(anchors("# Core, `Buf`: and a_b\n## Twice\n```\n# none\n```\n## Twice\n"))
                .containsExactlyInAnyOrder("core-buf-and-a_b", "twice", "twice-1");
    }

    /** Whether there is a file, and if an anchor is given the heading in it. */
    private static boolean hasTarget(Path page, String file, @Nullable String anchor) {
        Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
        return Files.exists(ProjectModules.ROOT.resolve(target))
                && (anchor == null || anchors(RepositoryFiles.read(target)).contains(anchor));
    }

    /** The anchors of the headings in a page. */
    private static Set<String> anchors(String page) {
        Set<String> anchors = new HashSet<>();
        String text = Pattern.compile("(?ms)^```.*?^```$").matcher(page).replaceAll("");
        Pattern.compile("(?m)^#+ +(.*)$")
                .matcher(text)
                .results()
                .map(heading -> heading.group(1).toLowerCase(Locale.ROOT).strip())
                .map(heading -> heading.replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-'))
                .forEach(anchor -> {
                    String free = anchor;
                    for (int i = 1; !anchors.add(free); i++) {
                        free = anchor + "-" + i;
                    }
                });
        return anchors;
    }

    @Test
    void shouldNumberItsDecisions() {
        List<Path> decisions = decisions();
        for (int i = 0; i < decisions.size(); i++) {
            String name = decisions.get(i).getFileName().toString();
            assertThat(name).startsWith(Text.format("%04d-", i + 1));
            assertThat(RepositoryFiles.read(decisions.get(i)))
                    .startsWith(Text.format("# %d. ", i + 1));
        }
    }

    @Test
    void shouldListEachDecisionOnceInTheirIndex() {
        List<String> listed = indexedDecisions().map(decision -> decision.group(2)).toList();

        assertThat(listed)
                .containsExactlyInAnyOrderElementsOf(
                        decisions().stream().map(file -> file.getFileName().toString()).toList());
        assertThat(indexedDecisions())
                .allMatch(
                        decision ->
                                decision.group(2)
                                        .startsWith(
                                                Text.format(
                                                        "%04d-",
                                                        Integer.parseInt(decision.group(1)))),
                        "the number is that of the file");
    }

    @Test
    void shouldMarkSupersededDecisionsInTheirIndex() {
        Pattern successor = Pattern.compile("(?m)^Superseded by \\[ADR (\\d+)]\\(([^)]+)\\)");
        Pattern mark = Pattern.compile("(?i)superseded by \\[(\\d+)]\\(([^)]+)\\)");
        List<String> superseded = new ArrayList<>();
        indexedDecisions()
                .forEach(decision -> {
                    Path file = Path.of("docs/adr", decision.group(2));
                    List<String> successors = links(successor, RepositoryFiles.read(file));
                    superseded.addAll(successors);
                    assertThat(links(mark, decision.group(3)))
                            .as("successors of " + file)
                            .isEqualTo(successors);
                });
        assertThat(superseded).isNotEmpty();
    }

    /** Entries of the index of decisions: number, name of the file, text. */
    private static Stream<MatchResult> indexedDecisions() {
        return Pattern.compile("(?m)^- \\[(\\d+)]\\(([^)]+)\\): (.+)$")
                .matcher(RepositoryFiles.read(DECISION_INDEX))
                .results();
    }

    private static List<String> links(Pattern link, String text) {
        return link.matcher(text)
                .results()
                .map(found -> found.group(1) + " " + found.group(2))
                .toList();
    }

    private List<Path> decisions() {
        return files.stream()
                .filter(file -> file.startsWith("docs/adr") && !file.equals(DECISION_INDEX))
                .toList();
    }

    /** Recipes name files by their end; what is added has a placeholder, {@code <X>Task.java}. */
    @Test
    void shouldNameFilesThatThereAreInItsRecipes() {
        List<String> named =
                Pattern.compile("`([\\w./-]+\\.(?:java|md|xml|tsv|txt))`")
                        .matcher(RepositoryFiles.read(Path.of("docs/recipes.md")))
                        .results()
                        .map(name -> name.group(1))
                        .filter(name -> !name.startsWith("..."))
                        .toList();

        assertThat(named).hasSizeGreaterThan(40);
        assertThat(named)
                .allSatisfy(name -> assertThat(files).anyMatch(file -> file.endsWith(name)));
    }

    @Test
    void shouldKeepTheFirstPagesShort() {
        assertThat(RepositoryFiles.read(Path.of("README.md")).lines())
                .hasSizeLessThanOrEqualTo(150);
        assertThat(RepositoryFiles.read(Path.of("CHANGELOG.md")).lines())
                .hasSizeLessThanOrEqualTo(60);
    }

    /** Command blocks that no script enters become wrong without notice. */
    @Test
    void shouldRunTheCommandsOfItsPages() {
        String scripts =
                RepositoryFiles.read(Path.of(".ci/run"))
                        + RepositoryFiles.read(Path.of("outside/check"));
        List<String> pages =
                files.stream()
                        .filter(file -> file.toString().endsWith(".md"))
                        .filter(file ->
                                RepositoryFiles.read(file)
                                        .lines()
                                        .anyMatch(line -> line.startsWith("```sh")))
                        .map(Path::toString)
                        .toList();

        assertThat(pages).contains("README.md", "docs/tour.md");
        assertThat(pages)
                .allMatch(
                        page ->
                                Pattern.compile("\\.ci/blocks .*\\b" + Pattern.quote(page))
                                        .matcher(scripts)
                                        .find(),
                        "a script runs the commands of the page");
    }

    @Test
    void shouldCarryNoBinaries() {
        assertThat(files)
                .noneMatch(file ->
                        file.toString().matches(".*\\.(class|jar|so|exe|dll|zip|gz|img|bin)"));
    }

    private static Predicate<Path> isJava() {
        return file -> file.toString().endsWith(".java");
    }

    private static Predicate<Path> isBuildFile() {
        return file ->
                file.toString()
                        .matches(
                                "(.*/)?pom\\.xml|softdpu|(\\.ci|bin)/.*|\\.mvn/.*|.*\\.(sh|ya?ml)");
    }

    private void assertNowhere(Predicate<Path> which, Pattern pattern) {
        List<String> places = new ArrayList<>();
        List<Path> looked = files.stream().filter(which).toList();
        assertThat(looked).as("files that the rule looks at").isNotEmpty();
        for (Path file : looked) {
            int number = 0;
            for (String line : RepositoryFiles.read(file).split("\n", -1)) {
                number++;
                if (pattern.matcher(line).find()) {
                    places.add(file + ":" + number + ": " + line.strip());
                }
            }
        }
        assertThat(places).as("lines with " + pattern).isEmpty();
    }
}
