package io.softdpu.cli.card;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.device.DeviceInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Capabilities of devices: as text, with one table for devices with the same capabilities, and as
 * JSON.
 */
public final class CapabilityReport {
    private final Map<DeviceInfo, List<Library>> answers = new LinkedHashMap<>();

    /**
     * Capabilities of a library on a device.
     *
     * @param name of the library
     * @param all in its order
     */
    public record Library(String name, List<Capability> all) {}

    /** A row of a table. */
    public record Row(String library, String capability, String value, String unit) {}

    /**
     * A table.
     *
     * @param devices devices with these capabilities
     * @param rows all capabilities
     */
    public record Table(List<DeviceInfo> devices, List<Row> rows) {}

    /** Adds the capabilities of some libraries on a device. */
    public void add(DeviceInfo device, List<Library> libraries) {
        answers.put(device, libraries);
    }

    /** The tables, in the order of their first devices. */
    public List<Table> tables() {
        Map<List<Row>, List<DeviceInfo>> devices = new LinkedHashMap<>();
        answers.forEach((device, libraries) ->
                devices.computeIfAbsent(rows(libraries), rows -> new ArrayList<>()).add(device));
        return devices.entrySet().stream()
                .map(table -> new Table(table.getValue(), table.getKey()))
                .toList();
    }

    /** One object per device. */
    public ArrayNode toJson() {
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        answers.forEach((device, libraries) -> {
            ObjectNode one = all.addObject();
            one.put("side", device.machine().side().id());
            one.put("interface_name", device.interfaceName());
            one.put("ibdev_name", device.ibdevName());
            one.put("pci_address", device.pciAddress().longForm());
            ObjectNode byLibrary = one.putObject("libraries");
            for (Library library : libraries) {
                ObjectNode byName = byLibrary.putObject(library.name());
                library.all().forEach(capability -> add(byName, capability));
            }
        });
        return all;
    }

    private static void add(ObjectNode byName, Capability capability) {
        ObjectNode one = byName.putObject(capability.name());
        one.put("unit", capability.unit().id());
        if (capability.unit() == Capability.Unit.SUPPORT) {
            one.put("value", capability.isSupported());
        } else {
            one.put("value", capability.value());
        }
    }

    private static List<Row> rows(List<Library> libraries) {
        List<Row> rows = new ArrayList<>();
        for (Library library : libraries) {
            for (Capability capability : library.all()) {
                rows.add(
                        switch (capability.unit()) {
                            case SUPPORT ->
                                    row(
                                            library,
                                            capability,
                                            capability.isSupported() ? "yes" : "no",
                                            "");
                            case COUNT ->
                                    row(library, capability, Long.toString(capability.value()), "");
                            case BYTES ->
                                    row(
                                            library,
                                            capability,
                                            Long.toString(capability.value()),
                                            "bytes");
                        });
            }
        }
        return rows;
    }

    private static Row row(Library library, Capability capability, String value, String unit) {
        return new Row(library.name(), capability.name(), value, unit);
    }
}
