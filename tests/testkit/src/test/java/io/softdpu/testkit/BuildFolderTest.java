package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URISyntaxException;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class BuildFolderTest {

    @Test
    void shouldHoldTheClassesOfTheBuild() throws URISyntaxException {
        assumeBuild();
        Path classes =
                Path.of(
                        BuildFolderTest.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());

        assertThat(classes).startsWith(BuildFolder.resolve("").toAbsolutePath());
    }

    @Test
    void shouldHoldTheFabricsOfTheBuild() {
        assumeBuild();

        assertThat(BuildFolder.resolve("").toAbsolutePath())
                .as("at the level verify the same folder")
                .startsWith(Path.of(System.getenv("SOFTDPU_FABRIC")).getParent());
    }

    private static void assumeBuild() {
        Assumptions.assumeTrue(
                System.getProperty(BuildFolder.PROPERTY) != null, "no build runs the tests");
    }
}
