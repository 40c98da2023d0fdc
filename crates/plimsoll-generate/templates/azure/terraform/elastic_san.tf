# costs: an Elastic SAN of its base size, whatever its volumes take of it
resource "azurerm_elastic_san" "san" {
  name                = "${var.name}-san"
  resource_group_name = azurerm_resource_group.all.name
  location            = azurerm_resource_group.all.location
  base_size_in_tib    = local.san_tib
  zones               = local.zone == null ? null : [local.zone]
  tags                = local.tags

  sku {
    name = "Premium_LRS"
  }
}

# Only the machine's subnet reaches the volumes.
resource "azurerm_elastic_san_volume_group" "san" {
  name           = "volumes"
  elastic_san_id = azurerm_elastic_san.san.id
  protocol_type  = "Iscsi"

  network_rule {
    subnet_id = azurerm_subnet.all.id
    action    = "Allow"
  }
}

resource "azurerm_elastic_san_volume" "volume" {
  for_each        = local.volumes
  name            = "volume-${each.key}"
  volume_group_id = azurerm_elastic_san_volume_group.san.id
  size_in_gib     = each.value
}

output "iscsi_targets" {
  description = "The file iscsi-targets, for prepare.sh: terraform output -raw iscsi_targets > iscsi-targets"
  value = join("", [for volume in azurerm_elastic_san_volume.volume : join("\t", [
    volume.name, volume.target_iqn, volume.target_portal_hostname, "${volume.target_portal_port}\n",
  ])])
}
