# costs: the nodes, their disks of the system, and a load balancer with a public address
resource "azurerm_kubernetes_cluster" "cluster" {
  name                = "${var.name}-cluster"
  resource_group_name = azurerm_resource_group.all.name
  location            = azurerm_resource_group.all.location
  dns_prefix          = var.name
  kubernetes_version  = local.kubernetes_version
  sku_tier            = "Free"
  tags                = local.tags

  default_node_pool {
    name              = "nodepool1"
    vm_size           = local.node_type
    node_count        = local.nodes
    zones             = local.zone == null ? null : [local.zone]
    ultra_ssd_enabled = local.has_ultra_classes
    node_labels       = local.node_labels
  }

  # An identity that Azure keeps: nobody holds a secret of it.
  identity {
    type = "SystemAssigned"
  }

  network_profile {
    network_plugin      = "azure"
    network_plugin_mode = "overlay"
  }
}

output "kubeconfig" {
  description = "How to get the credentials of the cluster, which are in no output"
  value       = "az aks get-credentials --resource-group ${var.name} --name ${var.name}-cluster --file kubeconfig"
}
