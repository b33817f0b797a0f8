package io.softdpu.perf.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.device.Topology;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.PhaseSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemoPartsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1|1|0|any any any",
                "1|1|0-7|any any any",
                "1|1|0-1|any any any",
                "1|4|5|any any any",
                "1|2|0-1|prefer:1 prefer:0 prefer:0",
                "1|3|2,4|prefer:4 prefer:2 prefer:2",
                "1|2|0-7|any any any",
                "1|3|0-7|0 1 2",
                "1|8|4,6-7,9|4 6 7",
                "1|8||any any any",
                "2|2|0-1|any,any any,any any,any",
                "2|5|0-4|any,any any,any any,any",
                "2|5|0-7|any,any any,any any,any",
                "2|4|0-3|prefer:2,prefer:3 prefer:0,prefer:1 prefer:0,prefer:1",
                "2|6|1-9|1,2 3,4 5,6",
                "3|9|0-8|0,1,2 3,4,5 6,7,8"
            })
    void shouldBindPollersForGoodOnlyWhereEachHasACoreOfItsOwn(
            int threads, int available, String allowed, String chosen) {
        assertThat(CpuChoice.choose(threads, available, allowed == null ? "" : allowed))
                .containsExactly(chosen.split(" "));
    }

    @Test
    void shouldChooseACoreForEachPollerOfThisMachine() {
        for (int threads : new int[] {1, 2, 64}) {
            assertThat(CpuChoice.here(threads))
                    .hasSize(3)
                    .allMatch(role -> role.split(",").length == threads);
        }
    }

    @Test
    void shouldCutThePlanToThePartOfEachCore() {
        List<PhaseSpec> plan = DemoPhase.plan(options(4 << 20, 4096, 3));

        // 1024 blocks are 341 and a third for each core.
        assertThat(plan)
                .allSatisfy(phase ->
                        assertThat((long) phase.ioSizeBytes() * phase.transactions())
                                .isBetween(1L, 341L * 4096));
        assertThat(DemoPhase.RANDOM_READ_4K.description(options(4 << 20, 4096, 3)))
                .isEqualTo("random read (4 KiB, 96 in flight)");
    }

    @ParameterizedTest
    @CsvSource({"0, 1048576", "-1, 1048576", "65, 1048576", "3, 8192"})
    void shouldRefuseOtherNumbersOfCores(int cores, long sizeBytes) {
        assertThatThrownBy(() -> options(sizeBytes, 4096, cores))
                .hasMessageContaining("number of cores is illegal: cores=" + cores + ", blocks=");
    }

    @Test
    void shouldCutThePlanToASmallVolume() {
        List<PhaseSpec> plan = plan(64 << 10, 4096);

        assertThat(plan).hasSize(4 + DemoPhase.measuredByDefault().size());
        assertThat(plan)
                .allSatisfy(phase ->
                        assertThat((long) phase.ioSizeBytes() * phase.transactions())
                                .isBetween(1L, 64L << 10));
        assertThat(plan.stream().filter(phase -> phase.nanos() == 7).map(PhaseSpec::name))
                .containsExactly(
                        "warm_up",
                        "random_read_4k",
                        "random_write_4k",
                        "random_read_4k_depth1",
                        "random_write_4k_depth1",
                        "sequential_read_1m");
        assertThat(plan.stream().filter(phase -> phase.nanos() == 0).map(PhaseSpec::name))
                .containsExactly("verify_read", "write_all", "read_back");
    }

    @Test
    void shouldNotKeepMoreInFlightThanHasRoomWhereBlocksAreLarge() {
        assertThat(plan(4 << 20, 1 << 20))
                .allSatisfy(phase -> {
                    assertThat(phase.ioSizeBytes()).isEqualTo(1 << 20);
                    assertThat(phase.transactions()).isBetween(1, 4);
                });
    }

    @ParameterizedTest
    @CsvSource({
        "67108864,402653184",
        "314572800,897581056",
        "3298534883328,6597338202112",
        "9223372036854775807,4611686018695823358"
    })
    void shouldNeedTheVolumeTwiceAndMemoryForItsProcesses(long sizeBytes, long neededBytes) {
        assertThat(options(sizeBytes, 4096).neededBytes()).isEqualTo(neededBytes);
    }

    private static List<PhaseSpec> plan(long sizeBytes, int blockSizeBytes) {
        return DemoPhase.plan(options(sizeBytes, blockSizeBytes));
    }

    private static DemoOptions options(long sizeBytes, int blockSizeBytes) {
        return options(sizeBytes, blockSizeBytes, 1);
    }

    private static DemoOptions options(long sizeBytes, int blockSizeBytes, int cores) {
        return options(sizeBytes, blockSizeBytes, cores, ProviderChoice.AUTO, false);
    }

    private static DemoOptions options(
            long sizeBytes,
            int blockSizeBytes,
            int cores,
            ProviderChoice provider,
            boolean separateFolders) {
        return new DemoOptions(
                null,
                sizeBytes,
                blockSizeBytes,
                cores,
                DemoPhase.measuredByDefault(),
                7,
                1,
                provider,
                separateFolders,
                List.of(),
                DemoDevices.of(Topology.builtin()));
    }

    @Test
    void shouldPassTheProviderToServiceAndTargetAlone() {
        DemoOptions options = options(1 << 20, 4096, 1, new ProviderChoice("mine"), false);
        try (SharedFolder folder = SharedFolder.create("softdpu-demo-")) {
            RoleArguments arguments =
                    new RoleArguments(options, List.of("any", "any", "any"), folder);

            assertThat(arguments.target()).containsSubsequence("--provider", "mine");
            assertThat(arguments.service(1)).containsSubsequence("--provider", "mine");
            assertThat(arguments.initiator()).doesNotContain("--provider");
        }
    }

    @Test
    void shouldImpairServiceAndTargetAndCaptureAtTheServiceAlone() {
        ProviderChoice choice = new ProviderChoice("roce", "loss=0.1,seed=7", Path.of("out.pcap"));
        DemoOptions options = options(1 << 20, 4096, 1, choice, false);
        try (SharedFolder folder = SharedFolder.create("softdpu-demo-")) {
            RoleArguments arguments =
                    new RoleArguments(options, List.of("any", "any", "any"), folder);

            assertThat(arguments.target())
                    .containsSubsequence("--provider", "roce", "--impair", "loss=0.1,seed=7")
                    .doesNotContain("--pcap");
            assertThat(arguments.service(1))
                    .containsSubsequence("--impair", "loss=0.1,seed=7")
                    .containsSubsequence("--pcap", Path.of("out.pcap").toAbsolutePath().toString());
            assertThat(arguments.initiator()).doesNotContain("--impair", "--pcap");
        }
    }

    @Test
    void shouldGiveTheTargetAFolderOfItsOwnIfAsked() {
        try (SharedFolder folder = SharedFolder.create("softdpu-demo-")) {
            DemoOptions one = options(1 << 20, 4096, 1, ProviderChoice.AUTO, false);
            DemoOptions separate = options(1 << 20, 4096, 1, ProviderChoice.AUTO, true);

            for (DemoRole role : DemoRole.values()) {
                assertThat(RoleArguments.fabric(one, folder, role)).isEqualTo(folder.fabric());
                assertThat(RoleArguments.fabric(separate, folder, role))
                        .startsWithRaw(folder.root())
                        .matches(path -> path.equals(folder.fabric()) == (role != DemoRole.TARGET));
            }
        }
    }

    @Test
    void shouldKeepItsFolderFromOthersAndRemoveItWithAllThatIsInIt() throws IOException {
        SharedFolder workspace = SharedFolder.create("softdpu-demo-");
        Path root = workspace.fabric().getParent();
        Files.writeString(RoleArguments.report(workspace, DemoRole.TARGET), "{}");
        Files.createDirectories(workspace.fabric().resolve("a/b"));
        Files.writeString(workspace.fabric().resolve("a/b/c"), "");

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(root)))
                .isEqualTo("rwx------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(workspace.fabric())))
                .isEqualTo("rwx------");

        workspace.close();
        workspace.close();

        assertThat(root).doesNotExist();
    }
}
