package io.softdpu.core.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.testkit.Clause;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TopologyTest {
    private static final Topology BUILTIN = Topology.builtin();

    private static List<String> names(List<PciFunction> functions) {
        return functions.stream().map(PciFunction::interfaceName).toList();
    }

    private static PciFunction function(
            Side side,
            String name,
            FunctionType type,
            String pci,
            @Nullable String parent,
            @Nullable String representor) {
        return PciFunction.builder(side, name)
                .ibdevName("ib_" + name)
                .type(type)
                .pciAddress(pci)
                .ipv4("127.1.2.3")
                .macAddress("02:00:00:00:00:01")
                .vuid("V-" + name)
                .activeRate(1_000_000_000)
                .parent(parent)
                .representor(representor)
                .build();
    }

    @Test
    @Clause("core-042")
    void shouldHaveFiveDevicesOnTheHost() {
        assertThat(BUILTIN.functionsOf(Side.HOST))
                .extracting(PciFunction::interfaceName, f -> f.pciAddress().toString())
                .containsExactly(
                        org.assertj.core.api.Assertions.tuple("pf0", "0b:00.0"),
                        org.assertj.core.api.Assertions.tuple("pf1", "0b:00.1"),
                        org.assertj.core.api.Assertions.tuple("pf0vf0", "0b:00.2"),
                        org.assertj.core.api.Assertions.tuple("pf0vf1", "0b:00.3"),
                        org.assertj.core.api.Assertions.tuple("pf1vf0", "0b:00.4"));
    }

    @Test
    @Clause({"core-045", "core-046"})
    void shouldHaveTwoPortsAndTwoSubFunctionsOnTheDpu() {
        assertThat(names(BUILTIN.functionsOf(Side.DPU)))
                .containsExactly("p0", "p1", "p0s0", "p1s0");
        assertThat(BUILTIN.functionsOf(Side.DPU))
                .extracting(f -> f.type().code())
                .containsExactly(0, 0, 2, 2);
        assertThat(names(BUILTIN.functionsOf(Side.TARGET))).containsExactly("t0");
    }

    @Test
    @Clause({"core-034", "core-035", "core-036"})
    void shouldHaveTheFunctionTypesOfTheGuide() {
        assertThat(FunctionType.PF.code()).isZero();
        assertThat(FunctionType.VF.code()).isEqualTo(1);
        assertThat(FunctionType.SF.code()).isEqualTo(2);
        assertThat(FunctionType.values()).hasSize(3);
    }

    @Test
    @Clause("core-047")
    void shouldGiveEachFunctionThatAPortMadeExactlyOneParent() {
        PciFunction p0 = BUILTIN.functionByKey("dpu/p0").orElseThrow();
        PciFunction p1 = BUILTIN.functionByKey("dpu/p1").orElseThrow();
        assertThat(names(BUILTIN.childrenOf(p0)))
                .containsExactly("p0s0", "pf0", "pf0vf0", "pf0vf1");
        assertThat(names(BUILTIN.childrenOf(p1))).containsExactly("p1s0", "pf1", "pf1vf0");
        BUILTIN.childrenOf(p0).forEach(f -> assertThat(BUILTIN.parentOf(f)).contains(p0));
        BUILTIN.childrenOf(p1).forEach(f -> assertThat(BUILTIN.parentOf(f)).contains(p1));
        assertThat(BUILTIN.parentOf(p0)).isEmpty();
        assertThat(BUILTIN.parentOf(p1)).isEmpty();
        assertThat(BUILTIN.childrenOf(BUILTIN.functionByKey("host/pf0").orElseThrow())).isEmpty();
    }

    @Test
    void shouldHashTheFunctionsAndNothingElse() {
        assertThat(BUILTIN.sha256Hex())
                .isEqualTo("9a7ae628b77a81df3319b58cc88eb8544a2603a03f7fc9d448c97a7a68a5b092");
        Topology.Builder backwards = Topology.builder("the same in another order");
        BUILTIN.functions().reversed().forEach(backwards::add);
        assertThat(backwards.build()).isEqualTo(BUILTIN).hasSameHashCodeAs(BUILTIN);
        assertThat(backwards.build().sha256()).isEqualTo(BUILTIN.sha256());

        Topology.Builder fewer = Topology.builder("one less");
        BUILTIN.functionsOf(Side.DPU).forEach(fewer::add);
        assertThat(fewer.build().sha256Hex()).isNotEqualTo(BUILTIN.sha256Hex());
        assertThat(fewer.build()).isNotEqualTo(BUILTIN);
    }

    @Test
    void shouldNotLetItsHashBeChanged() {
        BUILTIN.sha256()[0] ^= 1;
        assertThat(BUILTIN.sha256()).isEqualTo(Topology.builtin().sha256());
    }

    @Test
    void shouldRefuseNamesAndAddressesThatOccurTwice() {
        PciFunction p0 = function(Side.DPU, "p0", FunctionType.PF, "03:00.0", null, null);
        Thrown.with(Status.INVALID_VALUE, () -> Topology.builder("t").add(p0).add(p0).build())
                .hasMessageContainingAll("dpu interface p0", "dpu/p0");
        PciFunction p1 = function(Side.DPU, "p1", FunctionType.PF, "03:00.0", null, null);
        Thrown.with(Status.INVALID_VALUE, () -> Topology.builder("t").add(p0).add(p1).build())
                .hasMessageContainingAll("0000:03:00.0", "dpu/p0", "dpu/p1");
        PciFunction a = function(Side.HOST, "a", FunctionType.PF, "0b:00.0", "p0", "r");
        PciFunction b = function(Side.HOST, "b", FunctionType.PF, "0b:00.1", "p0", "r");
        Thrown.with(Status.INVALID_VALUE, () -> Topology.builder("t").add(p0).add(a).add(b).build())
                .hasMessageContaining("representor r");
    }

    @Test
    void shouldRefuseAParentThatIsNoPort() {
        PciFunction orphan = function(Side.HOST, "pf0", FunctionType.PF, "0b:00.0", "p9", "hpf0");
        Thrown.with(Status.INVALID_VALUE, () -> Topology.builder("t").add(orphan).build())
                .hasMessageContainingAll("host/pf0", "p9");
    }

    @Test
    void shouldRefuseAFunctionWithValuesThatCannotBe() {
        Thrown.with(
                Status.INVALID_VALUE,
                () -> function(Side.HOST, "a b", FunctionType.PF, "0b:00.0", null, null));
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> function(Side.HOST, "a", FunctionType.PF, "0b:00.0", "p0", null))
                .hasMessageContaining("neither");
        Thrown.with(Status.INVALID_VALUE, () -> PciFunction.ipv4Of("example.org"));
        Thrown.with(Status.INVALID_VALUE, () -> PciFunction.ipv4Of("1.2.3.256"));
    }

    @Test
    void shouldDeriveGidAndLinkLocalAddress() {
        PciFunction p0 = BUILTIN.functionByKey("dpu/p0").orElseThrow();
        assertThat(p0.ipv4().getHostAddress()).isEqualTo("127.3.0.1");
        assertThat(p0.gid())
                .containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 3, 0, 1);
        assertThat(p0.macAddress()).isEqualTo("02:53:44:03:00:01");
        assertThat(p0.ipv6().getHostAddress()).isEqualTo("fe80:0:0:0:53:44ff:fe03:1");
    }
}
